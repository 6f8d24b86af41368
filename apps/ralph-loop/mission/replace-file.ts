import { open, realpath, rename, rm, stat } from 'node:fs/promises';

/** Puts a text in a file's place in one go, with its mode; a link to it stays. Readers see the old text or the new one. */
export async function replaceFile(file: string, text: string): Promise<void> {
  const target = await realpath(file);
  const { mode } = await stat(target);
  const beside = `${target}.orrery-${process.pid}`;
  await rm(beside, { force: true });
  try {
    const handle = await open(beside, 'wx', mode);
    try {
      // The mode of a new file is narrowed by the process's mask.
      await handle.chmod(mode);
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(beside, target);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}
