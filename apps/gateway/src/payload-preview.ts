import { isUtf8 } from 'node:buffer';

const previewBytes = 16 * 1024;

/** The beginning of a message that could not be read, for a person. */
export interface PayloadPreview {
  /** Size of the whole payload. */
  readonly bytes: number;
  readonly encoding: 'utf8' | 'base64';
  readonly text: string;
  readonly truncated: boolean;
}

export function previewOf(payload: Uint8Array): PayloadPreview {
  const start = Buffer.from(payload.subarray(0, previewBytes));
  const encoding = isUtf8(payload) ? 'utf8' : 'base64';
  return {
    bytes: payload.byteLength,
    encoding,
    text: start.toString(encoding),
    truncated: payload.byteLength > previewBytes,
  };
}
