const HOW_MODULES_ARE_FOUND = new Set(['--conditions', '-C', '--import', '--require', '-r']);

/**
 * A thread has the options of its process. Where Node was given a program as text, one of them says what the text is, and no
 * thread would start with it, for a thread runs a file: there it has those that say how modules are found.
 */
export function threadArguments(args: readonly string[]): { execArgv?: string[] } {
  const name = (arg: string | undefined): string => arg?.split('=', 1)[0] ?? '';
  if (!args.some((arg) => name(arg) === '--input-type')) return {};
  const kept = (at: number): boolean => {
    const [arg, previous] = [args[at] as string, args[at - 1]];
    return HOW_MODULES_ARE_FOUND.has(name(arg)) || HOW_MODULES_ARE_FOUND.has(previous ?? '');
  };
  return { execArgv: args.filter((_, at) => kept(at)) };
}
