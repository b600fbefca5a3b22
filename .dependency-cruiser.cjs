// Who may import whom. Deny by default: a room lists what it may use, everything else is an error.

const specs = '\\.spec(-helper)?\\.ts$';
/** Code of a room, without its tests: tests may use test tools and other rooms' doors. */
const room = (path) => ({ path: `^${path}/`, pathNot: specs });
const npm = (names) => `(^|/)node_modules/(@types/)?(${names})/`;

/** What modules of tools import as `intendant/tool`: the public entry, which imports nothing. */
const toolEntry = '^libs/upstream/src/define-tool\\.ts$';

/** What a model is told about a result, and the fence around what others wrote. */
const textForModels = '^libs/contracts/src/(text-of|text-of-page|fence|shown-text|count)\\.ts$';

/** A room may import itself and the listed rooms, of our own code. */
const may = (name, path, allowed, comment) => ({
  name,
  comment,
  severity: 'error',
  from: room(path),
  to: {
    path: '^(apps|clients|libs|migrations|examples|bench|faults|test)/',
    pathNot: [path, ...allowed].map((each) => `^${each}/`),
  },
});

/** Only the listed places may import these packages. */
const only = (name, packages, places, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { pathNot: places },
  to: { path: npm(packages) },
});

const tests = ['^libs/testing/', '^test/', '^bench/', '^faults/'];

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Files that need each other cannot be understood, tested or moved one at a time.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unresolvable',
      comment: 'An import that resolves to nothing escapes every other rule.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-undeclared-package',
      comment: 'A package that is only there because another one brought it disappears with that one.',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'no-vague-rooms',
      comment: 'A folder named shared or utils has no subject, so everything ends up in it.',
      severity: 'error',
      from: {},
      to: { path: '/(shared|common|utils|core|helpers)/', pathNot: 'node_modules/' },
    },

    may('intent-imports-nothing', 'libs/intent', [], 'The domain is pure: it must run anywhere and depend on nobody.'),
    {
      name: 'intent-imports-no-package',
      comment:
        'Time, ids and randomness come in as data; a package or a Node module would bring them in by the back door.',
      severity: 'error',
      from: room('libs/intent'),
      to: { path: '.', pathNot: '^libs/intent/' },
    },
    may('contracts-room', 'libs/contracts', ['libs/intent'], 'What crosses a process boundary knows only the domain.'),
    may(
      'credentials-room',
      'libs/credentials',
      ['libs/contracts', 'libs/runtime'],
      'Who is calling is decided without the database, the bus and the upstreams.',
    ),
    may(
      'cel-room',
      'libs/cel',
      [],
      'An expression sees the values it is given, so that what it can take is bounded in one place.',
    ),
    may(
      'slack-room',
      'libs/slack',
      ['libs/contracts', 'libs/runtime'],
      'What Slack sends and is sent; who may decide, and who calls out, is elsewhere.',
    ),
    may(
      'tools-room',
      'libs/tools',
      ['libs/intent', 'libs/contracts', 'libs/runtime', 'libs/cel'],
      'The registry reads files; it neither decides nor calls.',
    ),
    may(
      'rules-room',
      'libs/rules',
      ['libs/intent', 'libs/contracts', 'libs/tools', 'libs/cel'],
      'Policy files and what follows from them for given facts; who loads the facts and records the verdict is elsewhere.',
    ),
    {
      name: 'rules-do-no-io',
      comment:
        'What rules decide follows from the files and facts they are given; the loader of tools reads the files.',
      severity: 'error',
      from: room('libs/rules'),
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'only-policy-judges',
      comment: 'The command line tries rules out; a second service that judges by them would be a second answer.',
      severity: 'error',
      from: { path: '^(apps|libs|examples|migrations)/', pathNot: ['^apps/(policy|cli)/', '^libs/rules/', specs] },
      to: { path: '^libs/rules/' },
    },
    may(
      'policy-room',
      'libs/policy',
      ['libs/intent', 'libs/contracts'],
      'Rules are pure: facts and proposal in, decision out.',
    ),
    {
      name: 'policy-does-no-io',
      comment: 'A rule that reads something itself cannot be tested as a table, nor explained from the recorded facts.',
      severity: 'error',
      from: room('libs/policy'),
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?crypto$' },
    },
    may(
      'approvals-room',
      'libs/approvals',
      ['libs/intent', 'libs/contracts', 'libs/tools', 'libs/policy'],
      'What people are asked, and whether it still is what would be sent; whom to ask and what follows is elsewhere.',
    ),
    {
      name: 'approvals-do-no-io',
      comment: 'Whether an approval fits follows from the record, the tool file and the policy files.',
      severity: 'error',
      from: room('libs/approvals'),
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'only-askers-seal',
      comment: 'Whoever can make a request out of nothing can have agreed to anything; the gateway only compares.',
      severity: 'error',
      from: {
        path: '^(apps|libs|examples|migrations)/',
        pathNot: ['^apps/(policy|dispatcher)/', '^libs/approvals/', specs],
      },
      to: { path: '^libs/approvals/' },
    },
    may(
      'store-room',
      'libs/store',
      ['libs/intent', 'libs/contracts', 'libs/runtime', 'migrations'],
      'The store writes the truth and knows neither the bus nor the upstreams; migrations tell it the schema version it must find.',
    ),
    may(
      'bus-room',
      'libs/bus',
      ['libs/contracts', 'libs/runtime'],
      'The bus carries wake-ups; it holds no truth, so it needs no store and no domain.',
    ),
    may(
      'upstream-room',
      'libs/upstream',
      ['libs/intent', 'libs/contracts', 'libs/tools', 'libs/runtime'],
      'The outbound client knows tools and verdicts, but cannot record anything.',
    ),
    may(
      'certify-room',
      'libs/certify',
      ['libs/intent', 'libs/contracts', 'libs/tools', 'libs/upstream', 'libs/runtime'],
      'A certificate is about an upstream alone: it sends as the services do, and needs neither database nor bus.',
    ),
    {
      name: 'only-types-of-intent',
      comment: 'Tool files name terms and adapters report verdicts; what they mean for an intent is decided elsewhere.',
      severity: 'error',
      from: room('libs/(tools|upstream|certify)'),
      to: { path: '^libs/intent/', dependencyTypesNot: ['type-only'] },
    },
    may('runtime-room', 'libs/runtime', [], 'Process concerns serve every room and therefore depend on none.'),
    may(
      'service-room',
      'libs/service',
      ['libs/bus', 'libs/store', 'libs/runtime'],
      'What every service process is made of, said once; it knows none of the services.',
    ),
    may(
      'migrations-room',
      'migrations',
      [],
      'A released migration is frozen: code that changes must not change what it does.',
    ),
    {
      name: 'migrations-packages',
      comment: 'For the same reason a migration is SQL run by TypeORM over pg, and nothing else.',
      severity: 'error',
      from: room('migrations'),
      to: { path: 'node_modules/', pathNot: npm('typeorm|pg') },
    },
    {
      name: 'examples-are-outsiders',
      comment: 'Demo and demo upstream stand for other people’s programs: they use the public surface.',
      severity: 'error',
      from: room('examples'),
      to: {
        path: '^(apps|libs|migrations|examples|bench|test)/',
        pathNot: ['^examples/', '^libs/contracts/', toolEntry],
      },
    },
    {
      name: 'client-imports-nothing',
      comment: 'It is installed in other people’s programs, on any runtime with fetch: what it needs, it brings along.',
      severity: 'error',
      from: room('clients'),
      to: { path: '.', pathNot: ['^clients/', textForModels] },
    },
    {
      name: 'text-for-models-imports-nothing',
      comment: 'The client brings these files along, so that a model is told the same on every surface.',
      severity: 'error',
      from: { path: textForModels },
      to: { path: '.', pathNot: textForModels },
    },
    {
      name: 'tool-entry-imports-nothing',
      comment:
        'Modules of tools load their own copy of it, from any folder; whatever it imported would have to be there.',
      severity: 'error',
      from: { path: toolEntry },
      to: { path: '.' },
    },
    {
      name: 'libs-do-not-import-apps',
      comment: 'A lib that knows an app cannot be used by another.',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^apps/' },
    },

    {
      name: 'apps-do-not-import-apps',
      comment: 'Services meet only in the event log and on the bus, so each can be deployed, scaled and killed alone.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/', pathNot: '^apps/standalone/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'standalone-composes-modules',
      comment:
        'The single exception: one process that hosts the services, through their modules and how those are configured, and nothing deeper.',
      severity: 'error',
      from: { path: '^apps/standalone/' },
      to: { path: '^apps/', pathNot: ['^apps/standalone/', '^apps/[^/]+/src/(?:config|[^/]+\\.module)\\.ts$'] },
    },
    {
      name: 'libs-through-their-index',
      comment: 'What a lib does not export is its own business and may change any day.',
      severity: 'error',
      from: { path: '^(?:apps|libs|migrations|examples|bench|faults|test)/([^/]+)' },
      to: { path: '^libs/', pathNot: ['^libs/$1/', '^libs/[^/]+/src/index\\.ts$', toolEntry] },
    },
    {
      name: 'apps-keep-their-insides',
      comment: 'Tests and benchmarks start an app as its users do; its files are its own.',
      severity: 'error',
      from: { path: '^(libs|migrations|examples|bench|faults)/', pathNot: '^faults/races/' },
      to: { path: '^apps/' },
    },
    {
      name: 'gateway-neither-calls-out-nor-decides',
      comment: 'The public door must not be able to cause an effect or to allow one.',
      severity: 'error',
      from: { path: '^apps/gateway/', pathNot: specs },
      to: { path: '^libs/(upstream|policy|rules)/' },
    },
    {
      name: 'only-executors-call-out',
      comment: 'Attempts are sent by the dispatcher and looked up by the reconciler: two places to audit.',
      severity: 'error',
      from: { path: '^apps/(policy|outbox-relay)/', pathNot: specs },
      to: { path: '^libs/upstream/' },
    },
    {
      name: 'cli-calls-out-to-certify-only',
      comment: 'The command line asks the services; the one exception sends to a sandbox, through the room for that.',
      severity: 'error',
      from: { path: '^apps/cli/', pathNot: specs },
      to: { path: '^libs/upstream/' },
    },
    {
      name: 'certify-is-for-the-command-line',
      comment: 'It breaks connections and kills processes on purpose; a service has no use for that.',
      severity: 'error',
      from: { path: '^(apps|libs|examples|migrations)/', pathNot: ['^apps/cli/', '^libs/certify/', specs] },
      to: { path: '^libs/certify/' },
    },
    {
      name: 'relay-knows-no-intent',
      comment: 'The relay forwards rows; the day it looks into them it becomes a second place with rules.',
      severity: 'error',
      from: { path: '^apps/outbox-relay/', pathNot: specs },
      to: { path: '^libs/(intent|policy|tools)/' },
    },
    {
      name: 'notifier-only-tells',
      comment: 'It reads what was published and carries it outside; it neither changes an intent nor judges one.',
      severity: 'error',
      from: { path: '^apps/notifier/', pathNot: specs },
      to: { path: '^libs/(policy|rules|tools|credentials)/' },
    },
    {
      name: 'testing-is-for-tests',
      comment: 'Test tools in a service would be shipped.',
      severity: 'error',
      from: { pathNot: [specs, ...tests] },
      to: { path: '^libs/testing/' },
    },

    {
      name: 'checker-shares-no-code',
      comment: 'Whoever judges the services by their own code believes their mistakes.',
      severity: 'error',
      from: { path: '^faults/(checker|history)/', pathNot: specs },
      to: { path: '^(apps|libs|migrations|examples|bench|test|faults)/', pathNot: '^faults/(checker|history)/' },
    },

    only(
      'only-bus-uses-nats',
      '@nats-io',
      ['^libs/bus/', '^examples/agents/nats\\.ts$', ...tests],
      'One place knows the traps of the client; JetStream can be replaced there. The example is what others write.',
    ),
    only(
      'only-store-uses-the-database',
      'pg|typeorm|@nestjs/typeorm',
      ['^libs/store/', '^migrations/', ...tests],
      'Every change goes through one door; a second connection would be a second door.',
    ),
    only(
      'only-upstream-calls-out',
      'undici',
      ['^libs/upstream/', '^bench/', '^test/'],
      'One outbound client, so that one place proves that nothing is sent twice.',
    ),
    only(
      'only-upstream-judges-addresses',
      'ipaddr\\.js',
      ['^libs/upstream/'],
      'Whether an address is of the public internet is decided in one place.',
    ),
    only(
      'only-upstream-speaks-mcp',
      '@modelcontextprotocol/client',
      ['^libs/upstream/src/mcp-', ...tests],
      'Its client sends again after some answers; one place knows which, and prevents it.',
    ),
    only(
      'only-the-mcp-surface-serves-mcp',
      '@modelcontextprotocol/server',
      ['^apps/gateway/src/mcp/', specs, '\\.spec-helper\\.mjs$', '^examples/tools-mcp/', ...tests],
      'The SDK for servers stays behind one thin adapter; everything else of the gateway speaks of intents.',
    ),
    only(
      'mcp-over-node-is-for-tests',
      '@modelcontextprotocol/node',
      [specs, '\\.spec-helper\\.mjs$', '^examples/tools-mcp/', ...tests],
      'It is installed for servers of tests; the gateway has an HTTP server already.',
    ),
    only(
      'only-upstream-loads-modules',
      'jiti',
      ['^libs/upstream/'],
      'Code of tools runs where calls are made, and nowhere else.',
    ),
    only(
      'only-cel-uses-bufbuild',
      '@bufbuild',
      ['^libs/cel/'],
      'The library itself has no limits; one place sets them, and an expression compiled elsewhere could hang a process.',
    ),
    only(
      'only-credentials-uses-jose',
      'jose',
      ['^libs/credentials/', '^test/'],
      'Tokens are made and checked in one place.',
    ),
    only(
      'only-upstream-breaks-circuits',
      'cockatiel',
      ['^libs/upstream/'],
      'The breaker keeps back attempts only; a second policy, one that retries, would send twice.',
    ),
    only(
      'only-runtime-uses-prom-client',
      'prom-client',
      ['^libs/runtime/'],
      'One registry of the process, with metrics described in one way.',
    ),
    only(
      'nest-is-wiring',
      '@nestjs',
      ['^apps/', '^libs/(runtime|bus|service)/', '^libs/[^/]+/src/[^/]+\\.module\\.ts$', specs, ...tests],
      'Nest is the wiring and the edge; inside a room, plain functions and classes.',
    ),
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    // Not dist anywhere: most packages keep their code there, and an excluded module escapes every rule.
    // The peers of the benchmark are installed on demand, with packages of their own.
    exclude: { path: ['^dist/', '^clients/[^/]+/dist/', '^bench/peers/'] },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.js'],
    },
  },
};
