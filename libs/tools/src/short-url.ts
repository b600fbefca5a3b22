import formats from 'ajv-formats';

const url = formats.default.get('url');

/** Longer ones are not accepted by browsers and proxies either. */
const longestUrl = 2048;

/**
 * The format `url` for texts whose length bounds the work: of all formats of `ajv-formats` it alone backtracks, and
 * looks ahead, so that no linear engine takes it.
 */
export function isShortUrl(text: string): boolean {
  return text.length <= longestUrl && url instanceof RegExp && url.test(text);
}
