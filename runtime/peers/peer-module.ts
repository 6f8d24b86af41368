const MODULE = 'peer:';

/** What stands for the module of an agent of another node: its name everywhere, `<node>/<id>`. */
export const moduleOf = (name: string): string => `${MODULE}${name}`;
export const isPeerModule = (module: string): boolean => module.startsWith(MODULE);
export const nameIn = (module: string): string => module.slice(MODULE.length);
