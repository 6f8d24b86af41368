import { isMainThread } from 'node:worker_threads';

/** Loaded before a program, tells at its end how much memory it had at most, all threads together. */
if (isMainThread) {
  process.once('exit', () => {
    process.stderr.write(`peak ${Math.ceil(process.resourceUsage().maxRSS / 1024)} MB\n`);
  });
}
