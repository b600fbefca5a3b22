// An old accounting program, one process per command: post <account> reads the entry on stdin, find <reference> lists.
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

const [command, value] = process.argv.slice(2).filter((item) => item !== '--');
const book = process.env['ACCOUNTS_BOOK'] ?? 'accounts.jsonl';
const lines = existsSync(book) ? readFileSync(book, 'utf8').split('\n').filter(Boolean) : [];

if (command === 'post') {
  const { reference, amount, text } = JSON.parse(readFileSync(0, 'utf8'));
  if (!/^[0-9]{4}$/.test(value ?? '')) {
    console.error(`${value} is no account`);
    process.exit(64);
  }
  const entry = lines.length + 1;
  mkdirSync(dirname(book), { recursive: true });
  appendFileSync(book, `${JSON.stringify({ entry, account: value, reference, amount, text })}\n`);
  console.log(JSON.stringify({ entry }));
} else if (command === 'find') {
  const entries = lines.map((line) => JSON.parse(line)).filter(({ reference }) => reference === value);
  console.log(JSON.stringify({ entries: entries.map(({ entry }) => ({ entry })) }));
} else {
  console.error('usage: accounts.mjs post <account> | find <reference>');
  process.exit(64);
}
