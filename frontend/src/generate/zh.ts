export const zh = {
  "as the template defines it": "按模板的定义",
  "Distinct keys": "不同的键数",
  "Key skew (Zipf)": "键倾斜（Zipf）",
  "Late (%)": "迟到（%）",
  "Late by up to": "最多迟到",
  "Null values (%)": "null 值（%）",
  "Malformed values (%)": "格式错误的值（%）",
  Seed: "种子",
  Fields: "字段",
  "generate.list_tea_rice_range":
    "列表：tea, rice。范围：1..5。带范围的文本：customer-1..50。带键序号的文本：order-#。",
  "any value of its type": "任意符合类型的值",
  "A duration such as 5 minutes, up to {most}": "时长，例如 5 minutes，最长 {most}",
  "Schema of the key": "键的模式",
  "Schema of the value": "值的模式",
};
