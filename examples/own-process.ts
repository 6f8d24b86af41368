// An agent in a process of its own: it reads nothing that it was not granted, and takes no memory but its own.
// Run: npm exec -- node --conditions=orrery-source examples/own-process.ts
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSystem } from 'orrery';
import { hoard, peek } from './curious.agent.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-example-'));
writeFileSync(join(folder, 'granted.txt'), 'hello');

await using system = await startSystem({
  agents: [
    {
      module: new URL('./curious.agent.ts', import.meta.url),
      isolation: 'process',
      permissions: { read: [folder] },
      memoryMb: 64,
    },
  ],
});

for (const path of [join(folder, 'granted.txt'), '/etc/passwd'])
  console.log(`${path.replace(folder, '')}: ${await system.ask(peek, { path })}`);
console.log(await system.ask(hoard, undefined).catch((error) => `${error.code}: ${error.message}`));
console.log(`still there: ${await system.ask(peek, { path: join(folder, 'granted.txt') })}`);
rmSync(folder, { recursive: true });
