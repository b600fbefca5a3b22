/** W3C trace context (https://www.w3.org/TR/trace-context/#traceparent-header); what is not one is ignored, as it asks for. */
export function readTraceparent(header: string | undefined): string | null {
  return header !== undefined && /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(header) ? header : null;
}
