import { describe, expect, it } from 'vitest';
import { bindMethods } from '../../../runtime/protocol/bind-methods.ts';

class Counter {
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(by: number): number {
    this.#count += by;
    return this.#count;
  }

  reset(): void {
    this.#count = 0;
  }
}

class Bound extends Counter {
  override add(by: number): number {
    return super.add(by);
  }

  double(): number {
    return this.add(this.count);
  }
}
bindMethods(Bound.prototype);

describe('bindMethods', () => {
  it('has methods keep their object when they are taken from it', () => {
    const { add, double } = new Bound();
    expect([add(2), double(), add(1)]).toEqual([2, 4, 5]);
  });

  it('keeps the objects of a class apart', () => {
    const [one, other] = [new Bound(), new Bound()];
    const { add } = one;
    add(1);
    expect([one.count, other.count]).toEqual([1, 0]);
  });

  it('makes nothing for an object whose methods nobody has read', () => {
    expect(Object.keys(new Bound())).toEqual([]);
  });

  it('leaves the accessors of a class, and the methods that it inherits, as they are', () => {
    const { reset } = new Bound();
    expect(new Bound().count).toBe(0);
    expect(reset).toThrow(TypeError);
  });

  it('lets an object have another method in its place', () => {
    const bound = new Bound();
    Object.assign(bound, { add: () => 7 });
    const { add } = bound;
    expect([add(1), new Bound().add(1)]).toEqual([7, 1]);
  });

  it('binds those that are named alone', () => {
    class Named {
      readonly name = 'me';
      mine(): string {
        return this.name;
      }
      yours(): string {
        return this.name;
      }
    }
    bindMethods(Named.prototype, ['mine']);
    const { mine, yours } = new Named();
    expect(mine()).toBe('me');
    expect(yours).toThrow(TypeError);
  });
});
