/** Whether mutations share flights, by how long the server takes for one with its commit. */
import { beforeEach, expect, test } from 'vitest';
import { CommitPace } from '../../../src/database/commit-pace.ts';

let commits: CommitPace;
beforeEach(() => {
  commits = new CommitPace();
});
const noteAll = (times: readonly number[]) => {
  for (const ms of times) commits.note(ms);
};
const sharing = (mutations: number) =>
  Array.from({ length: mutations }, () => commits.mayShare()).filter((may) => may).length;

test('mutations share while nothing is known, and where commits are quick', () => {
  expect(sharing(5)).toBe(5);
  noteAll(Array(100).fill(0.1));
  expect(sharing(5)).toBe(5);
});

test('where commits wait for a disk they fly alone, until it is looked at again', () => {
  noteAll(Array(15).fill(1.2));
  expect(sharing(2000)).toBe(1000);
  noteAll(Array(15).fill(1.2));
  expect(sharing(3000)).toBe(1000);
  noteAll(Array(15).fill(0.1));
  expect(sharing(1000)).toBe(1000);
  noteAll(Array(15).fill(1.2));
  expect(sharing(2000)).toBe(1000);
});

test('a busy processor, or a commit that another one has done, decides nothing', () => {
  noteAll(Array.from({ length: 100 }, (_, index) => (index % 3 === 0 ? 4 : 0.1)));
  expect(sharing(1)).toBe(1);
  noteAll(Array.from({ length: 100 }, (_, index) => (index % 3 === 0 ? 0.1 : 4)));
  expect(sharing(1)).toBe(0);
});

test('the server tells always until enough is known, then now and then', () => {
  const told = (flights: number) =>
    Array.from({ length: flights }, () => commits.wantsTimes()).filter((wants) => wants).length;
  expect(told(10)).toBe(10);
  noteAll(Array(15).fill(0.1));
  expect(told(160)).toBe(10);
});
