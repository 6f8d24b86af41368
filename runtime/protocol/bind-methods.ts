/** The names of an object's methods. */
export type MethodName<Of> = {
  [Name in keyof Of & string]: Of[Name] extends (...args: never[]) => unknown ? Name : never;
}[keyof Of & string];

/**
 * Lets methods of a class be destructured: `const { ask, tell } = ctx`.
 *
 * A method is bound when it is read, not before: an object that exists for one envelope costs nothing more.
 *
 * - `names` the methods to bind. @default all of the class's own
 */
export function bindMethods<Of extends object>(
  prototype: Of,
  names: readonly MethodName<Of>[] = methodNames(prototype),
): void {
  for (const name of names) {
    const method = prototype[name] as (...args: unknown[]) => unknown;
    Object.defineProperty(prototype, name, {
      configurable: true,
      get() {
        return method.bind(this);
      },
      // An object may still be given another one, as without this.
      set(value: unknown) {
        Object.defineProperty(this, name, { value, configurable: true, enumerable: true, writable: true });
      },
    });
  }
}

function methodNames<Of extends object>(prototype: Of): MethodName<Of>[] {
  const described = Object.entries(Object.getOwnPropertyDescriptors(prototype));
  return described
    .filter(([name, { value }]) => typeof value === 'function' && name !== 'constructor')
    .map(([name]) => name as MethodName<Of>);
}
