import { type TemplateFields, templateMistake } from './placeholders.js';
import { runtimeHeaders } from './runtime-headers.js';
import type { Path, ToolSource } from './tool-source.js';

// RFC 9110 section 5.6.2.
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Checks a URL; a base is one to which paths are appended. */
export function checkAddress(source: ToolSource, path: Path, { isBase }: { isBase: boolean }): void {
  const text = source.text(...path);
  if (text === null) return;
  // Never repeated in the message: it may come from a variable that holds a secret.
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    source.report(path, 'not an http or https URL; must be like https://payments.example');
  } else if (isBase && (url.search !== '' || url.hash !== '')) {
    source.report(path, 'has a query or fragment; must end before them, since the path is appended');
  } else if (url.hash !== '') {
    source.report(path, 'has a fragment; must end before it, since no request carries it');
  } else if (url.username !== '' || url.password !== '') {
    source.report(path, 'holds a user name or password; must be without, use a header');
  }
}

export function checkTemplate(source: ToolSource, path: Path, fields: TemplateFields): void {
  const text = source.text(...path);
  const mistake = text === null ? null : templateMistake(text, fields);
  if (mistake) source.report(path, mistake);
  checkReferences(source, path);
}

/** The runtime refuses every request with such a path, in whichever way the dots are written. */
export function checkSegments(source: ToolSource, path: Path): void {
  const [text = ''] = source.text(...path)?.split('?') ?? [];
  const segments = text
    .replace(/%2f|%5c/gi, '/')
    .replace(/%2e/gi, '.')
    .split('/');
  if (segments.includes('.') || segments.includes('..')) {
    source.report(path, 'has a segment `.` or `..`; must be without, written as the place that is meant');
  }
}

/** `fields`: what a request fills into the values; null: they are the same for all. */
export function checkHeaders(
  source: ToolSource,
  path: Path,
  fields: TemplateFields | null,
  own: readonly string[] = [],
): void {
  for (const [name, value] of Object.entries(source.object(...path) ?? {})) {
    const here = [...path, name];
    if (!token.test(name)) source.report(here, 'not the name of a header; must be letters, digits and dashes');
    else if (runtimeHeaders.has(name.toLowerCase()) || own.includes(name.toLowerCase()))
      source.report(here, 'set by the runtime; remove it');
    if (fields !== null) checkTemplate(source, here, fields);
    else if (String(value).includes('{{')) {
      source.report(here, 'goes with everything that is sent to this server; must be without {{…}}');
    }
  }
}

/** `${a-b}` is no reference and would be sent as it stands. Expressions are left alone: `${` means something there. */
function checkReferences(source: ToolSource, path: Path): void {
  const written = path.reduce<unknown>(
    (at, step) => (at as Record<string, unknown> | undefined)?.[step],
    source.written,
  );
  if (typeof written !== 'string') return;
  if (written.replace(/\$\{[A-Za-z_][A-Za-z0-9_]*(?::-[^}\n]*)?\}/g, '').includes('${')) {
    source.report(
      path,
      'not a reference to a variable; must be ${NAME} or ${NAME:-default}, of letters, digits and `_`',
    );
  }
}
