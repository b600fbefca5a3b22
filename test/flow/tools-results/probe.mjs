let input = '';
for await (const chunk of process.stdin) input += chunk;
process.stdout.write(JSON.parse(input).out);
