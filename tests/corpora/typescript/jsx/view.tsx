type Props = { title: string; onPick: (id: number) => void };

declare global {
  namespace JSX {
    interface IntrinsicElements {
      div: { id?: string };
    }
    type Element = object;
  }
}

export function Title(props: Props) {
  return <div id={props.title} />;
}

export const View = ({ title }: { title: string }) => {
  const pick = (id: number): void => console.log(id);
  return <Title title={title} onPick={pick} />;
};
