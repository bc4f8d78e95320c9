/** Who holds: name + incarnation, never the name alone. */
export interface Owner {
  name: string;
  incarnation: string;
}

/** The owner as one text, `name:incarnation`. The incarnation is decimal, so the last colon separates. */
export function ownerText(owner: Owner): string {
  return `${owner.name}:${owner.incarnation}`;
}

export function parseOwner(text: string): Owner {
  const colon = text.lastIndexOf(':');
  return { name: text.slice(0, colon), incarnation: text.slice(colon + 1) };
}
