// Plain JavaScript in this folder: what is measured is the built package, not how types are stripped.

/** Prints what the process has used so far, all its threads with it, as the last line. */
export function report(measured = {}) {
  const { user, system } = process.cpuUsage();
  console.log(JSON.stringify({ cpuMs: (user + system) / 1_000, ...measured }));
}

/** Megabytes that the process takes. */
export const rssMb = () => process.memoryUsage.rss() / 1e6;
