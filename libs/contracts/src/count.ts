/** `3,412` */
export function count(number: number): string {
  return number.toLocaleString('en-US');
}
