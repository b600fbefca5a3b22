/** The tool file's mapping cannot make a request, or read an answer, out of these values. */
export class MappingError extends Error {
  override readonly name = 'MappingError';
}
