/** Documents that a new topology can start from, by the name the API gives them. */
export const TEMPLATES: readonly { id: string; title: string; about: string }[] = [
  {
    id: "word-count",
    title: "Word count",
    about: "Sentences in, the running count of each word out.",
  },
];
