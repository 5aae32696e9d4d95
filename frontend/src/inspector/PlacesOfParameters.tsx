import { useDesigner } from "../designer/store";
import { parametersOf, placeOf } from "../graph/parameters";
import { asText } from "./widgets/widget";

/** The id of the list that single-line fields offer. */
export const PLACES = "places-of-parameters";

/** The texts that stand for the topology's parameters, as a list that fields offer while one is typed. */
export function PlacesOfParameters() {
  const document = useDesigner((state) => state.document);
  return (
    <datalist id={PLACES}>
      {parametersOf(document).map(([name, each]) => (
        <option key={name} value={placeOf(name)}>
          {asText(each.default)}
        </option>
      ))}
    </datalist>
  );
}
