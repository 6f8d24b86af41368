// The entry of the published command. Any Node can read this file: it checks the version before it loads code that only newer
// ones can read. Compiled code is cached in Node's own folder.
import nodeModule from 'node:module';

const NEEDED = 24;
const found = process.versions.node;

if (Number.parseInt(found, 10) < NEEDED) {
  console.error(`orrery needs Node ${NEEDED} or later, and this is Node ${found}`);
  process.exitCode = 1;
} else {
  nodeModule.enableCompileCache();
  await import('./main.ts');
}
