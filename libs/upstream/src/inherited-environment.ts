/**
 * What local programs get of the service's own environment: where programs are, and the language of their messages.
 * The rest would hand them the secrets of the service.
 */
export function inheritedEnvironment(): Record<string, string> {
  const names = ['PATH', 'LANG', 'LC_ALL'];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
