import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes longest by far: started last, one of these would run alone while everything else is done. */
const LONGEST = [
  'test/integration/chaos.test.ts',
  'test/integration/durable-mailboxes.test.ts',
  'test/integration/docs-samples.test.ts',
  'test/integration/failure-matrix.test.ts',
  'test/integration/durable-swarms.test.ts',
  'test/integration/peers-hyperswarm.test.ts',
  'test/integration/process-kills.test.ts',
  'test/integration/mcp-servers.test.ts',
  'test/integration/examples.test.ts',
  'test/integration/peers-libp2p.test.ts',
  'test/integration/package/types.test.ts',
  'test/integration/kill.test.ts',
  'apps/cli/test/integration/run.test.ts',
  'test/integration/peers-websocket.test.ts',
  'test/integration/durable-negotiations.test.ts',
  'test/integration/serve.test.ts',
  'test/integration/peer-teams-hyperswarm.test.ts',
  'test/integration/mcp/conformance.test.ts',
  'test/integration/mcp/inspector.test.ts',
  'test/integration/nat.test.ts',
  'test/integration/thrown.test.ts',
  'apps/cli/test/integration/peers.test.ts',
  'apps/cli/test/integration/up.test.ts',
  'test/integration/peer-teams-libp2p.test.ts',
  'test/integration/peer-channels-hyperswarm.test.ts',
  'test/integration/process-orphans.test.ts',
  'test/integration/watchdog.test.ts',
  'test/integration/durable-documents.test.ts',
  'test/integration/durable-tasks.test.ts',
  'apps/cli/test/integration/resume.test.ts',
  'apps/cli/test/integration/operations.test.ts',
  'test/integration/journal-durability.test.ts',
  'test/integration/package/installed.test.ts',
  'test/integration/package/init.test.ts',
  'test/integration/package/bundlers.test.ts',
];

/** Starts with the longest files of a group, in a fresh clone too, where Vitest knows no times and goes by size. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    for (const file of LONGEST) if (!existsSync(join(root, file))) throw new Error(`There is no ${file}`);
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.indexOf(relative(root, moduleId));
      return at < 0 ? LONGEST.length : at;
    };
    const groupOf = ({ project }: TestSpecification): number => project.config.sequence.groupOrder;
    const sorted = await super.sort(files);
    return sorted.sort((one, other) => groupOf(one) - groupOf(other) || rank(one) - rank(other));
  }
}
