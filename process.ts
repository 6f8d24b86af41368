import { bootProcess } from './runtime/processes/child/boot-process.ts';

// The entry of every process that runs an agent's code; a system starts it with what its code may keep.
const kept = new Set(process.argv.slice(2));
await bootProcess({ worker: kept.has('worker'), child: kept.has('child') });
