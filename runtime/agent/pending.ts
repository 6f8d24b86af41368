/** The handler answers later, by `reply` or `settle`. */
export const PENDING = Symbol('pending');
