import { startLifeline } from './runtime/processes/child/restrict.ts';

// The entry of every process that runs an agent's code: a system starts it under Node's permissions, with what its code may
// keep. Whoever imports it is none.
if (process.permission !== undefined) {
  const kept = new Set(process.argv.slice(2));
  // The runtime is loaded while the thread starts that watches the host.
  const [{ bootProcess }] = await Promise.all([
    import('./runtime/processes/child/boot-process.ts'),
    startLifeline(kept.has('family')),
  ]);
  bootProcess({
    worker: kept.has('worker'),
    child: kept.has('child'),
    sqlite: kept.has('sqlite'),
    proc: kept.has('proc') || !kept.has('family'),
  });
}
