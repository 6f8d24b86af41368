import { describe, expect, it } from 'vitest';
import type { Dialect } from '../../../../../gateway/a2a/wire/dialect.ts';
import { faultOf } from '../../../../../gateway/a2a/wire/faults.ts';
import {
  dialectForErrors,
  dialectOf,
  dialectOfMethod,
  saidVersion,
} from '../../../../../gateway/a2a/server/endpoint.ts';

const dialect = (version: string, ...methods: string[]): Dialect =>
  ({ version, methods: Object.fromEntries(methods.map((method) => [method, 'get'])) }) as unknown as Dialect;

const V10 = dialect('1.0', 'GetTask');
const V03 = dialect('0.3', 'tasks/get', 'message/send');
const V01 = dialect('0.1', 'tasks/get', 'tasks/send');
const ALL = [V10, V03, V01];

const faultIn = (work: () => unknown): string => {
  try {
    work();
    return 'none';
  } catch (error) {
    return faultOf(error);
  }
};

describe('versions of A2A', () => {
  it('are said by the header, else by the query; an empty one is not said', () => {
    const said = (url: string, header?: string) =>
      saidVersion(
        new Request(
          `https://a.example${url}`,
          header === undefined ? {} : { headers: { 'A2A-Version': header } },
        ),
      );
    expect(said('/')).toBeUndefined();
    expect(said('/', '  ')).toBeUndefined();
    expect(said('/', '1.0')).toBe('1.0');
    expect(said('/?A2A-Version=0.3')).toBe('0.3');
    expect(said('/?A2A-Version=0.3', '1.0')).toBe('1.0');
  });

  it('choose a dialect by major and minor number; nothing said is 0.3, and nobody says 0.1', () => {
    expect(dialectOf(ALL, '1.0')).toBe(V10);
    expect(dialectOf(ALL, '1.0.7')).toBe(V10);
    expect(dialectOf(ALL, '0.3.0')).toBe(V03);
    expect(dialectOf(ALL, undefined)).toBe(V03);
    for (const version of ['0.1', '1.1', '10.0', '1', 'v1.0', '1.0-beta', '1.0.0.0'])
      expect(faultIn(() => dialectOf(ALL, version))).toBe('VERSION_NOT_SUPPORTED');
    expect(faultIn(() => dialectOf([V10], undefined))).toBe('VERSION_NOT_SUPPORTED');
  });

  it('without one, a method that the oldest dialect has is of that, and any other of 0.3', () => {
    expect(dialectOfMethod(ALL, undefined, 'tasks/send')).toBe(V01);
    expect(dialectOfMethod(ALL, undefined, 'tasks/get')).toBe(V01);
    expect(dialectOfMethod(ALL, '0.3', 'tasks/get')).toBe(V03);
    expect(dialectOfMethod(ALL, undefined, 'message/send')).toBe(V03);
    expect(dialectOfMethod([V10, V03], undefined, 'tasks/get')).toBe(V03);
    expect(faultIn(() => dialectOfMethod(ALL, '0.3', 'tasks/send'))).toBe('METHOD_NOT_FOUND');
    expect(faultIn(() => dialectOfMethod(ALL, undefined, 'toString'))).toBe('METHOD_NOT_FOUND');
    expect(() => dialectOfMethod(ALL, undefined, 'GetTask')).toThrow('it is one of 1.0');
  });

  it('errors are said in the dialect that was asked for, else in the newest', () => {
    expect(dialectForErrors(ALL, '0.3')).toBe(V03);
    expect(dialectForErrors(ALL, undefined)).toBe(V03);
    expect(dialectForErrors(ALL, '7.0')).toBe(V10);
  });
});
