import { MissionError } from './mission-error.ts';

/** Loads optional packages. Rejects with MissionError, naming `names`, if one of them is not installed. */
export async function neededPackages<Loaded>(
  load: () => Promise<Loaded>,
  {
    source,
    what,
    names,
  }: { readonly source: string; readonly what: string; readonly names: readonly string[] },
): Promise<Loaded> {
  try {
    return await load();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_MODULE_NOT_FOUND' || !names.some((name) => message.includes(name))) throw error;
    throw new MissionError(source, [
      `${what} needs packages that are not installed: npm install ${names.join(' ')}`,
    ]);
  }
}
