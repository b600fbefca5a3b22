/** The credential of an `Authorization: Bearer …` header (RFC 6750), or null where there is none. */
export function bearer(header: string | undefined): string | null {
  const match = /^Bearer +([\x21-\x7e]+)$/i.exec(header ?? '');
  return match?.[1] ?? null;
}
