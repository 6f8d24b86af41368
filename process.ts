import { bootProcess } from './runtime/processes/child/boot-process.ts';

// The entry of every process that runs an agent's code: a system starts it under Node's permissions, with what its code may
// keep. Whoever imports it is none.
if (process.permission !== undefined) {
  const kept = new Set(process.argv.slice(2));
  await bootProcess({ worker: kept.has('worker'), child: kept.has('child') });
}
