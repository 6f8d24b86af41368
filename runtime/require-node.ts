const NEEDED = 24;

const found = process.versions.node;
if (Number.parseInt(found, 10) < NEEDED) {
  const error = new Error(`Orrery needs Node ${NEEDED} or later, and this is Node ${found}`);
  // Where it was thrown says nothing to whoever reads it.
  error.stack = String(error);
  throw error;
}
