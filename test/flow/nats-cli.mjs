/**
 * Stands in for the NATS CLI, which is no package of npm, in tests of what is written for it: `request`, `pub` and `sub`
 * with the flags that are used there. As the CLI does, `request` ends well and prints nothing where nobody answers, what it
 * has to say itself goes to stderr, and every other flag is refused.
 */
import { parseArgs } from 'node:util';
import { connect, headers } from '@nats-io/transport-node';

const flags = {
  server: { type: 'string', short: 's', default: process.env.NATS_URL },
  timeout: { type: 'string', default: '5s' },
  header: { type: 'string', short: 'H', multiple: true, default: [] },
  raw: { type: 'boolean', short: 'r' },
  jetstream: { type: 'boolean', short: 'J' },
  'no-templates': { type: 'boolean' },
  'inbox-prefix': { type: 'string' },
  count: { type: 'string' },
  wait: { type: 'string' },
};
const { values, positionals } = parseArgs({ options: flags, allowPositionals: true });
const [command, subject, body = ''] = positionals;
const say = (text) => console.error(`${new Date().toTimeString().slice(0, 8)} ${text}`);
const inMs = (text) => Number(/^(\d+)s$/.exec(text)[1]) * 1_000;
const timeout = inMs(values.timeout);

/** A name, a colon, a value, with or without spaces between. */
function messageHeaders() {
  const all = headers();
  for (const each of values.header) {
    const [, name, value] = /^([^:]+):(.*)$/s.exec(each);
    all.append(name.trim(), value.trim());
  }
  return all;
}

async function request(nats) {
  if (!values.raw) say(`Sending request on "${subject}"`);
  const reply = await nats.request(subject, body, { headers: messageHeaders(), timeout }).catch((error) => {
    if (error.isNoResponders?.()) say('No responders are available');
    else if (error.name !== 'TimeoutError') throw error;
  });
  if (reply) console.log(reply.string());
}

async function publish(nats) {
  const options = { headers: messageHeaders() };
  if (!values.jetstream) nats.publish(subject, body, options);
  say(`Published ${body.length} bytes to "${subject}"`);
  if (!values.jetstream) return;
  const { stream, seq, error } = (await nats.request(subject, body, { ...options, timeout })).json();
  if (error) throw new Error(error.description);
  say(`Stored in Stream: ${stream} Sequence: ${seq}`);
}

async function subscribe(nats) {
  const messages = nats.subscribe(subject, values.count && { max: Number(values.count) });
  await nats.flush();
  if (!values.raw) say(`Subscribing on ${subject}`);
  const wait = values.wait && setTimeout(() => messages.unsubscribe(), inMs(values.wait));
  let count = 0;
  for await (const message of messages) {
    wait?.refresh();
    count += 1;
    if (!values.raw) {
      console.log(
        `[#${count}] Received on "${message.subject}"${message.reply ? ` with reply "${message.reply}"` : ''}`,
      );
      for (const [name, all] of message.headers ?? []) for (const value of all) console.log(`${name}: ${value}`);
      if (message.headers) console.log();
    }
    console.log(values.raw ? message.string() : `${message.string()}\n`);
  }
  clearTimeout(wait);
}

const commands = { request, req: request, publish, pub: publish, subscribe, sub: subscribe };
if (!commands[command]) throw new Error(`expected command but got "${command}"`);
// The CLI would run what stands between these.
if (body.includes('{{') && !values['no-templates']) throw new Error('could not parse body template');
const nats = await connect({ servers: values.server, inboxPrefix: values['inbox-prefix'] });
try {
  await commands[command](nats);
} finally {
  await nats.close();
}
