import fs from 'node:fs';
import path from 'node:path';

const debianSuite = /^(bullseye|bookworm|trixie|forky|sid|stable|testing|unstable)$/;

/**
 * The archive this Debian system installs from, as `{ uri, signedBy }`; undefined when there is none. It is read from
 * the system's own list so that a mirror or a proxy of the site is used and this project names no host.
 */
export function debianArchive(directory = '/etc/apt') {
  const files = [path.join(directory, 'sources.list'), ...listed(path.join(directory, 'sources.list.d'))];
  const entries = files.flatMap((file) => (file.endsWith('.sources') ? stanzas(read(file)) : oneLiners(read(file))));
  return entries.find(
    ({ suites, components }) => suites.some((s) => debianSuite.test(s)) && components.includes('main'),
  );
}

/** deb822 format, sources.list(5): stanzas of `Key: value`, separated by empty lines. */
export function stanzas(text) {
  return text.split(/\n\s*\n/).flatMap((stanza) => {
    const fields = {};
    let name;
    for (const line of stanza.split('\n')) {
      if (line.startsWith('#')) continue;
      const field = /^([A-Za-z-]+):\s*(.*)$/.exec(line);
      if (field) {
        name = field[1].toLowerCase();
        fields[name] = field[2].trim();
      } else if (name && /^\s/.test(line)) {
        fields[name] += `\n${line.trim()}`;
      }
    }
    if (/^no$/i.test(fields.enabled ?? 'yes') || !words(fields.types).includes('deb')) return [];
    const uri = words(fields.uris)[0];
    if (!uri) return [];
    return [{ uri, suites: words(fields.suites), components: words(fields.components), signedBy: fields['signed-by'] }];
  });
}

/** One-line format, sources.list(5): `deb [option=value …] uri suite component …`. */
export function oneLiners(text) {
  return text.split('\n').flatMap((line) => {
    const match = /^\s*deb\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)\s+([^#]*)/.exec(line);
    if (!match) return [];
    const [, options = '', uri, suite, components] = match;
    const signedBy = /(?:^|\s)signed-by=(\S+)/i.exec(options)?.[1];
    return [{ uri, suites: [suite], components: words(components), signedBy }];
  });
}

function words(text) {
  return (text ?? '').split(/\s+/).filter(Boolean);
}

function read(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function listed(directory) {
  try {
    const names = fs.readdirSync(directory).sort();
    return names.filter((name) => /\.(list|sources)$/.test(name)).map((name) => path.join(directory, name));
  } catch {
    return [];
  }
}
