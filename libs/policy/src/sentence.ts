export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
