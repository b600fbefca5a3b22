// Answers as many notes as it is asked for, with things in them that nobody is to read.
let input = '';
for await (const chunk of process.stdin) input += chunk;
const length = JSON.parse(input).length;
const items = Array.from({ length }, (_, n) => ({ id: `note-${n}`, text: 'paid with 4111 1111 1111 1111' }));
process.stdout.write(JSON.stringify({ items, count: 3_412, owner: { phone: '555-0199' } }));
