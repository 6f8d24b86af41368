// The command as it is published. Any Node can read this file: it says which Node it needs before it loads what only that one
// can read. What V8 makes of the code is kept for the next time, in Node's own folder for that.
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
