/**
 * The arrows of docs/architecture.md. One rule a room: what stands in `pathNot` is all that it may import.
 *
 * npm packages and Node built-ins are open to every room except `runtime/protocol` (zod only).
 */

const packages = 'node_modules/';
/** Whoever uses what needs them installs them; the tests have them all. */
const { peerDependencies } = require('./package.json');
const peers = `node_modules/(${Object.keys(peerDependencies).join('|')})/`;

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'protocol-stands-alone',
      comment: 'runtime/protocol knows zod, Node built-ins and itself.',
      severity: 'error',
      from: { path: '^runtime/protocol/' },
      to: { pathNot: ['^runtime/protocol/', 'node_modules/zod/'], dependencyTypesNot: ['core'] },
    },
    {
      name: 'machines-stand-on-the-protocol',
      comment:
        'runtime/machine runs machines of every room, and knows none: runtime/protocol and xstate alone.',
      severity: 'error',
      from: { path: '^runtime/machine/' },
      to: { pathNot: ['^runtime/(machine|protocol)/', 'node_modules/xstate/'] },
    },
    {
      name: 'runtime-knows-nothing-outside',
      comment: 'runtime imports only runtime, packages and built-ins.',
      severity: 'error',
      from: { path: '^runtime/' },
      to: { pathNot: ['^runtime/', packages], dependencyTypesNot: ['core'] },
    },
    {
      name: 'a-process-knows-frames-alone',
      comment:
        "What runs in an agent's process has no system around it: its host has, at the other end of the frames.",
      severity: 'error',
      from: { path: '^runtime/processes/child/' },
      to: {
        pathNot: ['^runtime/(processes|actor|upgrade|protocol)/', packages],
        dependencyTypesNot: ['core'],
      },
    },
    {
      name: 'chains-know-the-protocol',
      comment: 'chains import only chains, runtime/protocol, packages and built-ins.',
      severity: 'error',
      from: { path: '^chains/' },
      to: { pathNot: ['^chains/', '^runtime/protocol/', packages], dependencyTypesNot: ['core'] },
    },
    {
      name: 'policies-know-the-protocol',
      comment: 'policies import only policies, chains, runtime/protocol, packages and built-ins.',
      severity: 'error',
      from: { path: '^policies/' },
      to: {
        pathNot: ['^policies/', '^chains/', '^runtime/protocol/', packages],
        dependencyTypesNot: ['core'],
      },
    },
    {
      name: 'transports-know-the-protocol',
      comment: 'transports import only transports, chains, runtime/protocol, packages and built-ins.',
      severity: 'error',
      from: { path: '^transports/' },
      to: {
        pathNot: ['^transports/', '^chains/', '^runtime/protocol/', packages],
        dependencyTypesNot: ['core'],
      },
    },
    {
      name: 'servers-know-no-clients',
      comment: 'What both speak has a room of its own, or a file beside theirs.',
      severity: 'error',
      from: { path: '^transports/gateway/' },
      to: { path: '^transports/[^/]+-client/' },
    },
    {
      name: 'clients-know-no-servers',
      comment: 'What both speak has a room of its own, or a file beside theirs.',
      severity: 'error',
      from: { path: '^transports/[^/]+-client/' },
      to: { path: '^transports/gateway/' },
    },
    {
      name: 'actors-use-the-public-face',
      comment:
        'actors import actors, runtime/protocol, runtime/public.ts, runtime/actor/agent-definition.ts, packages and built-ins.',
      severity: 'error',
      from: { path: '^actors/' },
      to: {
        pathNot: [
          '^actors/',
          '^runtime/protocol/',
          '^runtime/public\\.ts$',
          '^runtime/actor/agent-definition\\.ts$',
          packages,
        ],
        dependencyTypesNot: ['core'],
      },
    },
    {
      name: 'apps-are-users',
      comment: 'An app reaches the runtime and other apps by package name, never by path.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/', pathNot: '^apps/[^/]+/test/' },
      to: { pathNot: ['^apps/$1/', packages], dependencyTypes: ['local'], dependencyTypesNot: ['aliased'] },
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
      from: { path: '^(runtime|actors|transports|policies|chains)/' },
      to: { path: '^(index|worker|process|simulate|gateway|xpr|remote|mcp)\\.ts$' },
    },
    {
      name: 'product-imports-no-tooling',
      comment: 'Nothing that is published imports tests, benchmarks, examples, apps or tooling.',
      severity: 'error',
      from: {
        path: '^(index\\.ts$|start-team\\.ts$|worker\\.ts$|process\\.ts$|simulate\\.ts$|gateway\\.ts$|xpr\\.ts$|remote\\.ts$|mcp\\.ts$|(runtime|actors|transports|policies|chains)/)',
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
        path: '^(index\\.ts$|start-team\\.ts$|worker\\.ts$|process\\.ts$|simulate\\.ts$|gateway\\.ts$|xpr\\.ts$|remote\\.ts$|mcp\\.ts$|(runtime|actors|transports|policies|chains)/)',
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
