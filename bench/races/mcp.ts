import { mcpServed } from '../mcp/contender.ts';
import type { Goal, Race } from '../measurement.ts';
import type { Plugin } from '../plugin.ts';

/** DESIGN 11: at least the reference SDK's rate on the same operation, and flat where the SDK grows. */
const SDK: Goal = { better: 'more', target: 1, floor: 1 };
const FLAT: Goal = { better: 'more', target: 0.9, floor: 0.8 };

const SIZES = [1, 100, 1_000] as const;

const calls = (tools: number): Race => ({
  kind: 'race',
  name: `mcp-call-${tools}`,
  title: `tools/call of 2026-07-28 with ${tools.toLocaleString('en')} tools, 32 connections`,
  unit: 'per second',
  contenders: [
    mcpServed('orrery', 'orrery', { tools }),
    mcpServed('orrery, agent in a worker', 'orrery', { tools, agent: 'thread' }),
    mcpServed('mcp sdk', 'sdk', { tools }),
  ],
  comparisons: [
    { contender: 'orrery', baseline: 'mcp sdk', of: 'rate', goal: SDK },
    { contender: 'orrery, agent in a worker', baseline: 'mcp sdk', of: 'rate' },
  ],
});

/** MCP over HTTP and the published SDK's server, whose tools are registered for each request. */
const mcp: readonly Race[] = [
  ...SIZES.map(calls),
  {
    kind: 'race',
    name: 'mcp-flat',
    title: 'tools/call with 1,000 tools beside one, 32 connections',
    unit: 'per second',
    contenders: [
      mcpServed('1,000 tools', 'orrery', { tools: 1_000 }),
      mcpServed('1 tool', 'orrery', { tools: 1 }),
    ],
    comparisons: [{ contender: '1,000 tools', baseline: '1 tool', of: 'rate', goal: FLAT }],
  },
];

export const plugin: Plugin = { measurements: mcp };
