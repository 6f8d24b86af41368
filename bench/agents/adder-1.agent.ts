import { adder } from '../mcp/adder.ts';

export const agent = adder(1);
