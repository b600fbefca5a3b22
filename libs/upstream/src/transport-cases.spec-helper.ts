import type { Behaviour } from '@intendant/testing';

export interface Case {
  readonly name: string;
  readonly behaviour: Behaviour;
  readonly cause: string | RegExp;
  /** For a server that never ends its answer. */
  readonly callMs?: number;
}

export const half = '{"ok":';
export const statusLine = 'HTTP/1.1 200 OK\r\n';
const cut = `${statusLine}content-length: 11\r\n\r\n${half}`;
export const chunked = `${statusLine}transfer-encoding: chunked\r\n\r\n`;
/** What a reset leaves of an answer depends on how much of it was read. */
export const cutOrReset = /^(answer_cut_short|reset_after_send)$/;

const at = 'request';
const silent = { callMs: 300, cause: 'call_timeout' };

/** Every way to fall over after the header bytes were handed to the socket. */
export const cases: readonly Case[] = [
  { name: 'is reset after the headers', behaviour: { at: 'headers', then: 'reset' }, cause: 'reset_after_send' },
  { name: 'is closed after the headers', behaviour: { at: 'headers', then: 'close' }, cause: 'reset_after_send' },
  { name: 'is reset after the full request', behaviour: { at, then: 'reset' }, cause: 'reset_after_send' },
  { name: 'is closed after the full request', behaviour: { at, then: 'close' }, cause: 'reset_after_send' },
  ...(['reset', 'close'] as const).flatMap((then): Case[] => [
    {
      name: `does ${then} inside the status line`,
      behaviour: { at, send: 'HTTP/1.1 2', then },
      cause: 'reset_after_send',
    },
    {
      name: `does ${then} after the status line`,
      behaviour: { at, send: statusLine, then },
      cause: 'reset_after_send',
    },
    {
      name: `does ${then} inside the headers`,
      behaviour: { at, send: `${statusLine}content-le`, then },
      cause: 'reset_after_send',
    },
    {
      name: `does ${then} after a 102`,
      behaviour: { at, send: 'HTTP/1.1 102 X\r\n\r\n', then },
      cause: 'reset_after_send',
    },
    {
      name: `does ${then} after a 103`,
      behaviour: { at, send: 'HTTP/1.1 103 X\r\n\r\n', then },
      cause: 'reset_after_send',
    },
    {
      name: `does ${then} after a 100 that was not asked for`,
      behaviour: { at, send: 'HTTP/1.1 100 X\r\n\r\n', then },
      cause: 'reset_after_send',
    },
    { name: `does ${then} in the middle of a success`, behaviour: { at, send: cut, then }, cause: cutOrReset },
    {
      name: `does ${then} in the middle of a refusal`,
      behaviour: { at, send: 'HTTP/1.1 400 X\r\ncontent-length: 50\r\n\r\n{', then },
      cause: cutOrReset,
    },
    {
      name: `does ${then} before the body of a success`,
      behaviour: { at, send: `${statusLine}content-length: 11\r\n\r\n`, then },
      cause: cutOrReset,
    },
    {
      name: `does ${then} in the middle of a chunk`,
      behaviour: { at, send: `${chunked}b\r\n${half}`, then },
      cause: cutOrReset,
    },
    {
      name: `does ${then} between two chunks`,
      behaviour: { at, send: `${chunked}b\r\n{"ok":true}\r\n`, then },
      cause: cutOrReset,
    },
  ]),
  {
    name: 'delimits its answer by closing, and is reset before its end',
    behaviour: { at, send: `${statusLine}connection: close\r\n\r\n${half}`, then: 'reset' },
    // A socket that finds data and a reset at once reports an orderly end.
    cause: /^(answer_cut_short|reset_after_send|no_receipt)$/,
  },
  {
    name: 'delimits its answer by closing, too early',
    behaviour: { at, send: `${statusLine}connection: close\r\n\r\n${half}`, then: 'close' },
    cause: 'no_receipt',
  },

  ...[
    ['garbage', 'no such protocol\r\n\r\n'],
    ['binary garbage', '\u0000\u0016\u0003\u0001'],
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['a version that does not exist', 'HTTP/7.3 200 OK\r\ncontent-length: 0\r\n\r\n'],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\ncontent-length: 0\r\n\r\n'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\ncontent-length: 0\r\n\r\n'],
    ['a header without a colon', `${statusLine}no header\r\n\r\n`],
    ['endless headers', `${statusLine}${'x-more: and more\r\n'.repeat(2000)}\r\n`],
    ['one endless header', `${statusLine}x-more: ${'and more '.repeat(4000)}\r\n\r\n`],
    ['a negative length', `${statusLine}content-length: -1\r\n\r\n{"ok":true}`],
    ['a length that is no number', `${statusLine}content-length: eleven\r\n\r\n{"ok":true}`],
    ['two lengths', `${statusLine}content-length: 11\r\ncontent-length: 12\r\n\r\n{"ok":true}`],
    ['a length and chunks', `${statusLine}content-length: 11\r\ntransfer-encoding: chunked\r\n\r\n{"ok":true}`],
    ['a chunk without a size', `${chunked}{"ok":true}\r\n0\r\n\r\n`],
    ['a chunk of a size that no number can hold', `${chunked}fffffffffffffffff\r\n{"ok":true}\r\n0\r\n\r\n`],
    ['a chunk that is longer than it says', `${chunked}5\r\n{"ok":true}\r\n0\r\n\r\n`],
  ].map(
    ([what, send = '']): Case => ({
      name: `answers ${what}`,
      behaviour: { at, send, then: 'keep' },
      cause: /^(bad_response|answer_cut_short)$/,
    }),
  ),
  {
    name: 'answers with an unasked upgrade',
    behaviour: { at, send: 'HTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n', then: 'keep' },
    cause: 'reset_after_send',
  },
  {
    name: 'announces without end',
    behaviour: { at, drip: 'HTTP/1.1 103 X\r\nlink: </style.css>\r\n\r\n', then: 'keep' },
    ...silent,
  },

  { name: 'is silent once it is accepted', behaviour: { at: 'accept', then: 'hang' }, ...silent },
  { name: 'is silent after the headers', behaviour: { at: 'headers', then: 'hang' }, ...silent },
  { name: 'is silent after the full request', behaviour: { at, then: 'hang' }, ...silent },
  { name: 'is silent inside the status line', behaviour: { at, send: 'HTTP/1.1 2', then: 'hang' }, ...silent },
  { name: 'is silent after the status line', behaviour: { at, send: statusLine, then: 'hang' }, ...silent },
  {
    name: 'is silent after the headers of its answer',
    behaviour: { at, send: `${statusLine}content-length: 11\r\n\r\n`, then: 'hang' },
    ...silent,
  },
  { name: 'is silent in the middle of a success', behaviour: { at, send: cut, then: 'hang' }, ...silent },
  {
    name: 'is silent in the middle of a chunk',
    behaviour: { at, send: `${chunked}b\r\n${half}`, then: 'hang' },
    ...silent,
  },
  {
    name: 'is silent before the last chunk',
    behaviour: { at, send: `${chunked}b\r\n{"ok":true}\r\n`, then: 'hang' },
    ...silent,
  },
  {
    name: 'never closes what is delimited by closing',
    behaviour: { at, send: `${statusLine}connection: close\r\n\r\n{"ok":true}`, then: 'hang' },
    ...silent,
  },
  {
    name: 'announces an answer and is silent',
    behaviour: { at, send: 'HTTP/1.1 102 X\r\n\r\n', then: 'hang' },
    ...silent,
  },

  { name: 'lets its headers drip', behaviour: { at, send: statusLine, drip: 'x: y\r\n', then: 'keep' }, ...silent },
  { name: 'lets one header drip', behaviour: { at, send: `${statusLine}x: `, drip: 'y', then: 'keep' }, ...silent },
  {
    name: 'lets its body drip',
    behaviour: { at, send: `${statusLine}content-length: 100000\r\n\r\n`, drip: ' ', then: 'keep' },
    ...silent,
  },
  { name: 'lets its chunks drip', behaviour: { at, send: chunked, drip: '1\r\n \r\n', then: 'keep' }, ...silent },
  {
    name: 'lets a body drip that ends with the connection',
    behaviour: { at, send: `${statusLine}connection: close\r\n\r\n`, drip: ' ', then: 'keep' },
    ...silent,
  },
];
