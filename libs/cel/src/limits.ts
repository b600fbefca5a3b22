/** Longest text of an expression, in UTF-16 code units. Parsing this much takes 60 ms at worst (measured). */
export const longestExpression = 4096;

/** Most parts (names, constants, operators, calls) of an expression, macros written out. */
export const mostParts = 1000;

/** Deepest nesting of an expression, macros written out. */
export const deepestExpression = 100;

/** Largest regular expression, in instructions of the program that it is compiled to; `[a-z]{50}` has 53. */
export const largestPattern = 200;

/**
 * Most work of one evaluation. A unit is about one part evaluated once, 256 characters copied or compared, or four characters
 * put to one instruction of a regular expression: 50 ns as a rule, and up to 400 in loops that go on after errors (measured).
 */
export const mostWork = 100_000;

/** Longest text that is read as a number. */
export const longestNumber = 64;
