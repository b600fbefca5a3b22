import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { debianArchive, oneLiners, stanzas } from './apt-sources.mjs';

let directory;
beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'apt-sources-'));
  fs.mkdirSync(path.join(directory, 'sources.list.d'));
});
afterEach(() => fs.rmSync(directory, { recursive: true }));

const deb822 = `Types: deb
# a comment
URIs: http://mirror.test/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian.gpg

Types: deb
URIs: http://mirror.test/debian-security
Suites: bookworm-security
Components: main
`;

describe('the list of package sources', () => {
  it('is read in the deb822 format, one entry per stanza', () => {
    expect(stanzas(deb822)).toEqual([
      {
        uri: 'http://mirror.test/debian',
        suites: ['bookworm', 'bookworm-updates'],
        components: ['main'],
        signedBy: '/usr/share/keyrings/debian.gpg',
      },
      {
        uri: 'http://mirror.test/debian-security',
        suites: ['bookworm-security'],
        components: ['main'],
        signedBy: undefined,
      },
    ]);
  });

  it('keeps a key that is written into a stanza', () => {
    const [entry] = stanzas('Types: deb\nURIs: http://a.test\nSuites: sid\nSigned-By:\n -----BEGIN\n .\n mQIN\n');
    expect(entry.signedBy).toBe('\n-----BEGIN\n.\nmQIN');
  });

  it('leaves out disabled stanzas and sources of source packages', () => {
    expect(stanzas('Types: deb\nEnabled: no\nURIs: http://a.test\n\nTypes: deb-src\nURIs: http://b.test\n')).toEqual(
      [],
    );
  });

  it('is read in the one-line format with options and comments', () => {
    expect(
      oneLiners(
        '# deb http://no.test sid main\ndeb [arch=amd64 signed-by=/k.gpg] http://a.test/debian sid main contrib # x',
      ),
    ).toEqual([{ uri: 'http://a.test/debian', suites: ['sid'], components: ['main', 'contrib'], signedBy: '/k.gpg' }]);
  });

  it('gives the archive of Debian itself, not that of a vendor or of security updates', () => {
    fs.writeFileSync(path.join(directory, 'sources.list'), 'deb http://vendor.test/apt cloud main\n');
    fs.writeFileSync(
      path.join(directory, 'sources.list.d', 'debian.sources'),
      deb822.split('\n\n').reverse().join('\n\n'),
    );
    expect(debianArchive(directory)?.uri).toBe('http://mirror.test/debian');
  });

  it('gives nothing on a system that is not Debian', () => {
    expect(debianArchive(path.join(directory, 'missing'))).toBeUndefined();
  });
});
