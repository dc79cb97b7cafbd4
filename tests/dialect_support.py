"""The small projects that the examples of the other surfaces talk about, crawled once by their servers."""

from __future__ import annotations

EXAMPLE = """/**
 * A simple function that adds two numbers
 */
export function add(a: number, b: number): number {
  return a + b;
}

/**
 * Somebody to greet
 */
export interface Person {
  name: string;
  age: number;
  email?: string;
  // no more is needed to greet somebody
}

// Greets people.

export class Greeter {
  private greeting: string;

  constructor(greeting: string) {
    this.greeting = greeting;
  }

  /** Greets one person. */
  greet(person: Person): string {
    const text = `${this.greeting}, ${person.name}`;
    // a sentence
    return text;
  }
}
"""

CONSUMER = """import { add, Greeter, type Person } from "./example";

export function main(): string {
const sum = add(1, 2);

// somebody to greet
  const alice: Person = { name: "Alice", age: sum };

  const greeter = new Greeter("Hello");
  // twice
greeter.greet(alice);
  return greeter.greet(alice);
}
"""

SERVICE = """export interface User {
  id: string;
}




/** Users. */

export class UserService {
  /** Fetches a user by their ID from the database. */
  async getUser(id: string): Promise<User> {
    return { id };
  }
}
"""

SERVICE_IMPL = """import { UserService } from "./user.service";

/** The same, with a cache. */

export class UserServiceImpl extends UserService {
  cached = 0;
}
"""

FLAWED = """import { UserService, type User } from "./user.service";

export async function show(service: UserService): Promise<string> {
  const user: User = await service.getUser("1");
  return (
    user.name
  );
}
"""

TYPESCRIPT = {
    "package.json": '{"name": "ts-project", "version": "1.0.0"}\n',
    "tsconfig.json": '{"compilerOptions": {"strict": true, "target": "es2022"}, "include": ["src"]}\n',
    "src/example.ts": EXAMPLE,
    "src/consumer.ts": CONSUMER,
    "src/user.service.ts": SERVICE,
    "src/user.service.impl.ts": SERVICE_IMPL,
    "src/flawed.ts": FLAWED,
}

ANIMALS = {
    "go.mod": "module example.com/zoo\n\ngo 1.21\n",
    "animal.go": "package zoo\n\n// Animal makes a sound.\ntype Animal interface {\n\tSound() string\n}\n",
    "dog.go": 'package zoo\n\ntype Dog struct{}\n\nfunc (d Dog) Sound() string { return bark() }\n\nfunc bark() string { return "wuff" }\n',
    "dog_test.go": 'package zoo\n\nimport "testing"\n\nfunc TestSound(t *testing.T) {\n\tif bark() == "" {\n\t\tt.Fail()\n\t}\n}\n',
}
