import classes from "./frame.module.css";

/** The product's logo. */
export function Mark({ size = 20 }: { size?: number }) {
  return (
    <img
      src="/mark.svg"
      alt=""
      width={size}
      height={size}
      className={classes.mark}
      style={{ width: size, height: size }}
    />
  );
}
