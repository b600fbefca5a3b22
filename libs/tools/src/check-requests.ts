import { checkExpression } from './check-expression.js';
import { placeholders, type TemplateFields, templateMistake } from './placeholders.js';
import type { Path, ToolSource } from './tool-source.js';

/** Headers that the runtime and the HTTP client set themselves; another value would break what they promise. */
const ownHeaders = new Set([
  ...['idempotency-key', 'x-attempt-id', 'host', 'content-length', 'transfer-encoding', 'connection', 'upgrade'],
]);
// RFC 9110 section 5.6.2.
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Checks how requests are written: URL, templates, headers and expressions of the upstream. */
export function checkRequests(source: ToolSource): void {
  checkBaseUrl(source);
  const input = source.object('input', 'properties') ?? {};
  const injected = Object.keys(source.object('inject') ?? {});
  const required = source.value('input', 'required');
  const fields = {
    known: [...Object.keys(input), ...injected],
    given: [...(Array.isArray(required) ? required.map(String) : []), ...injected],
  };
  for (const path of [
    ['upstream', 'http'],
    ['upstream', 'lookup'],
  ]) {
    checkTemplate(source, [...path, 'path'], fields);
    checkSegments(source, [...path, 'path']);
    checkHeaders(source, [...path, 'headers'], fields);
  }
  checkExpression(source, ['upstream', 'http', 'body'], ['args']);
  checkExpression(source, ['upstream', 'lookup', 'present'], ['data', 'status']);
  checkExpression(source, ['upstream', 'lookup', 'receipt'], ['data', 'status']);
  if (source.text('upstream', 'http', 'method') === 'GET' && source.text('upstream', 'http', 'body') !== null) {
    source.report(['upstream', 'http', 'body'], 'a GET has no body; remove it, or use another method');
  }
  checkLookupNamesRequest(source);
}

function checkBaseUrl(source: ToolSource): void {
  const path = ['upstream', 'http', 'baseUrl'];
  const text = source.text(...path);
  if (text === null) return;
  // Never repeated in the message: it may come from a variable that holds a secret.
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    source.report(path, 'not an http or https URL; must be like https://payments.example');
  } else if (url.search !== '' || url.hash !== '') {
    source.report(path, 'has a query or fragment; must end before them, since the path is appended');
  } else if (url.username !== '' || url.password !== '') {
    source.report(path, 'holds a user name or password; must be without, use a header');
  }
}

function checkTemplate(source: ToolSource, path: Path, fields: TemplateFields): void {
  const text = source.text(...path);
  const mistake = text === null ? null : templateMistake(text, fields);
  if (mistake) source.report(path, mistake);
  checkReferences(source, path);
}

/** The runtime refuses every request with such a path, in whichever way the dots are written. */
function checkSegments(source: ToolSource, path: Path): void {
  const [text = ''] = source.text(...path)?.split('?') ?? [];
  const segments = text
    .replace(/%2f|%5c/gi, '/')
    .replace(/%2e/gi, '.')
    .split('/');
  if (segments.includes('.') || segments.includes('..')) {
    source.report(path, 'has a segment `.` or `..`; must be without, written as the place that is meant');
  }
}

function checkHeaders(source: ToolSource, path: Path, fields: TemplateFields): void {
  for (const name of Object.keys(source.object(...path) ?? {})) {
    if (!token.test(name))
      source.report([...path, name], 'not the name of a header; must be letters, digits and dashes');
    else if (ownHeaders.has(name.toLowerCase())) source.report([...path, name], 'set by the runtime; remove it');
    checkTemplate(source, [...path, name], fields);
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

function checkLookupNamesRequest(source: ToolSource): void {
  const path = source.text('upstream', 'lookup', 'path');
  if (path === null) return;
  const headers = Object.values(source.object('upstream', 'lookup', 'headers') ?? {});
  if ([path, ...headers].every((text) => placeholders(String(text)).length === 0)) {
    source.report(
      ['upstream', 'lookup', 'path'],
      'asks the same for every request; must name this one, as in ?key={{key}}',
    );
  }
}
