const PARAMETER = 'options';

/**
 * The address of an agent's module with options of it. They cross into the thread that loads it in no other way. Errors and
 * records name the module, so nothing secret goes in there.
 */
export function withOptions(module: URL, options: Readonly<Record<string, unknown>>): URL {
  const address = new URL(module);
  address.searchParams.set(PARAMETER, JSON.stringify(options));
  return address;
}

/** The options in the address of a module; {} where there are none. */
export function optionsIn(address: string): Record<string, unknown> {
  const options = new URL(address).searchParams.get(PARAMETER);
  return options === null ? {} : (JSON.parse(options) as Record<string, unknown>);
}
