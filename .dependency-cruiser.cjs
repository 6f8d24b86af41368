/** The arrows between rooms (`.ci/rooms.ts`), and what else no import may do. */

const { rulesOfRooms } = require('./.ci/rooms.ts');

const packages = 'node_modules/';
/** Whoever uses what needs them installs them; the tests have them all. */
const { peerDependencies } = require('./package.json');
const peers = `node_modules/(${Object.keys(peerDependencies).join('|')})/`;

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...rulesOfRooms(),
    {
      name: 'runtime-knows-nothing-outside',
      comment: 'runtime imports only runtime, packages and built-ins.',
      severity: 'error',
      from: { path: '^runtime/' },
      to: { pathNot: ['^runtime/', packages], dependencyTypesNot: ['core'] },
    },
    {
      name: 'rooms-of-the-gateway-stand-alone',
      comment: 'What the protocols of the gateway share knows none of them, and no other such room.',
      severity: 'error',
      from: { path: '^gateway/(http|admit|team|reach|a2a/wire|xpr/chain|lango/wire)/' },
      to: { path: '^gateway/', pathNot: '^gateway/$1/' },
    },
    {
      name: 'protocols-know-no-other',
      comment:
        'A2A, MCP and AgentMesh know nothing of each other. XPR is a dialect of A2A, and A2A does not know it.',
      severity: 'error',
      from: { path: '^gateway/(a2a|mcp|agentmesh)/' },
      to: { path: '^gateway/(a2a|mcp|xpr|lango|agentmesh)/', pathNot: '^gateway/$1/' },
    },
    {
      name: 'servers-know-no-clients',
      comment: 'What both speak is beside them: a2a/wire, xpr/chain, lango/wire, or a file of the protocol.',
      severity: 'error',
      from: { path: '^gateway/', pathNot: '^gateway/[^/]+/(client|tools)/' },
      to: { path: '^gateway/[^/]+/(client|tools)/' },
    },
    {
      name: 'clients-know-no-servers',
      comment: 'What both speak is beside them: a2a/wire, xpr/chain, lango/wire, or a file of the protocol.',
      severity: 'error',
      from: { path: '^gateway/[^/]+/(client|tools)/' },
      to: { path: '^gateway/([^/]+\\.ts$|(http|admit|team|[^/]+/(server|admit))/)' },
    },
    {
      name: 'apps-are-users',
      comment: 'An app reaches the runtime and other apps by package name, never by path.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/', pathNot: '^apps/[^/]+/test/' },
      to: { pathNot: ['^apps/$1/', packages], dependencyTypes: ['local'], dependencyTypesNot: ['aliased'] },
    },
    {
      name: 'the-page-runs-in-a-browser',
      comment: 'What the page is made of, and the model that the command line has too, needs no Node.',
      severity: 'error',
      from: { path: '^apps/visualiser/(model|page|worker)/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'examples-are-users',
      comment: 'An example imports the package by name.',
      severity: 'error',
      from: { path: '^examples/' },
      to: { pathNot: ['^examples/', packages], dependencyTypes: ['local'], dependencyTypesNot: ['aliased'] },
    },
    {
      name: 'nobody-imports-a-root',
      comment: 'Only tests, benchmarks and users import the composition roots.',
      severity: 'error',
      from: { path: '^(runtime|actors|transports|policies|gateway)/' },
      to: {
        path: '^(index|worker|process|simulate|gateway|xpr|lango|hyperswarm|remote|mcp|agentmesh|machines)\\.ts$',
      },
    },
    {
      name: 'product-imports-no-tooling',
      comment: 'Nothing that is published imports tests, benchmarks, examples, apps or tooling.',
      severity: 'error',
      from: {
        path: '^(index\\.ts$|start-team\\.ts$|worker\\.ts$|process\\.ts$|simulate\\.ts$|gateway\\.ts$|xpr\\.ts$|lango\\.ts$|hyperswarm\\.ts$|remote\\.ts$|mcp\\.ts$|agentmesh\\.ts$|machines\\.ts$|(runtime|actors|transports|policies|gateway)/)',
      },
      to: { path: '^(test|bench|examples|apps|\\.ci)/' },
    },
    {
      name: 'no-cycles',
      comment: 'No cycle at run time; imports of types do not count.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-cycles-at-the-edges',
      comment: 'Policies, transports and the gateway have none of types either.',
      severity: 'error',
      from: { path: '^(policies|transports|gateway)/' },
      to: { circular: true },
    },
    {
      name: 'resolvable',
      comment: 'Every import leads to a file, a package or a built-in.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'the-root-needs-no-peers',
      comment: "What needs an optional peer is a subpath: `import 'orrery'` and its threads reach none.",
      severity: 'error',
      from: { path: '^(index|start-team|worker|process)\\.ts$' },
      to: { path: peers, reachable: true },
    },
    {
      name: 'no-undeclared-packages',
      comment: 'What is published imports only declared dependencies.',
      severity: 'error',
      from: {
        path: '^(index\\.ts$|start-team\\.ts$|worker\\.ts$|process\\.ts$|simulate\\.ts$|gateway\\.ts$|xpr\\.ts$|lango\\.ts$|hyperswarm\\.ts$|remote\\.ts$|mcp\\.ts$|agentmesh\\.ts$|machines\\.ts$|(runtime|actors|transports|policies|gateway)/)',
      },
      to: {
        pathNot: peers,
        dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev', 'unknown'],
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: ['^dist/', '^(test|apps)/.*fixtures/'] },
    tsPreCompilationDeps: 'specify',
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['orrery-source', 'import', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json', '.d.ts'],
    },
  },
};
