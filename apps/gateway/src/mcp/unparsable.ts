/** A body that is no JSON at all. */
export class Unparsable extends Error {}
