package org.apache.spark.sql.millrace

/**
 * What has been decided about Spark's functions and expression classes, one by one. A function or class that is in no
 * list is refused: a new version of Spark adds it, and somebody has to read what it does. The test
 * `test_every_function_of_spark_is_decided` lists functions without a decision, by name.
 *
 * An expression may call a function that computes a value of one record from its arguments alone: it reads no files,
 * sends no requests, runs no code that it is given, tells nothing about the machine and the session, and returns the
 * same for the same arguments.
 */
private[millrace] object FunctionList {

  /** The reason of a refusal, and its condition in [[Expressions.Invalid]]. */
  final case class Refusal(condition: String, why: String)

  private def words(text: String): Seq[String] = text.stripMargin.split("\\s+").toSeq.filter(_.nonEmpty)

  /** The functions that an expression may call; titles of groups end with a colon. */
  val functions: Set[String] = """
    |operators:
    |  ! % & * + - / < << <= <=> = == > >= >> >>> ^ | ~
    |conditions:
    |  between coalesce if ifnull nanvl nullif nullifzero nvl nvl2 when zeroifnull
    |comparisons:
    |  and equal_null ilike in isnan isnotnull isnull like not or regexp regexp_like rlike
    |bits:
    |  bit_count bit_get getbit shiftleft shiftright shiftrightunsigned
    |numbers:
    |  abs acos acosh asin asinh atan atan2 atanh bin bround cbrt ceil ceiling conv cos cosh cot csc degrees div e
    |  exp expm1 factorial floor greatest hex hypot least ln log log10 log1p log2 mod negative pi pmod positive pow
    |  power radians rint round sec sign signum sin sinh sqrt tan tanh try_add try_divide try_mod try_multiply
    |  try_subtract unhex width_bucket
    |texts:
    |  ascii base64 bit_length btrim char char_length character_length chr collate collation concat_ws contains
    |  decode elt encode endswith find_in_set format_number format_string from_base32 initcap instr is_valid_utf8
    |  jaro_winkler_similarity lcase left len length levenshtein locate lower lpad ltrim luhn_check make_valid_utf8
    |  mask octet_length overlay position printf quote regexp_count regexp_extract regexp_extract_all regexp_instr
    |  regexp_replace regexp_substr repeat replace right rpad rtrim sentences soundex space split split_part
    |  startswith substr substring substring_index to_base32 to_binary to_char to_number to_varchar translate trim
    |  try_to_binary try_to_number try_validate_utf8 ucase unbase64 upper validate_utf8
    |URLs, as texts:
    |  parse_url try_parse_url try_url_decode url_decode url_encode
    |dates and times:
    |  add_months convert_timezone current_timezone date_add date_diff date_format date_from_unix_date date_part
    |  date_sub date_trunc dateadd datediff datepart day dayname dayofmonth dayofweek dayofyear extract
    |  from_unixtime from_utc_timestamp hour last_day make_date make_dt_interval make_interval make_time
    |  make_timestamp make_timestamp_ltz make_timestamp_ntz make_ym_interval minute month monthname months_between
    |  next_day quarter second time_bucket time_diff time_from_micros time_from_millis time_from_seconds
    |  time_to_micros time_to_millis time_to_seconds time_trunc timestamp_micros timestamp_millis timestamp_nanos
    |  timestamp_seconds to_date to_time to_timestamp to_timestamp_ltz to_timestamp_ntz to_unix_timestamp
    |  to_utc_timestamp trunc try_make_interval try_make_timestamp try_make_timestamp_ltz try_make_timestamp_ntz
    |  try_to_date try_to_time try_to_timestamp unix_date unix_micros unix_millis unix_nanos unix_seconds
    |  unix_timestamp weekday weekofyear year
    |hashes:
    |  crc32 hash md5 sha sha1 sha2 xxhash64
    |conversions:
    |  bigint binary boolean cast date decimal double float int smallint string time timestamp tinyint
    |collections:
    |  cardinality concat element_at reverse size try_element_at
    |arrays:
    |  array array_append array_compact array_contains array_distinct array_except array_insert array_intersect
    |  array_join array_max array_min array_position array_prepend array_remove array_repeat array_size array_union
    |  arrays_overlap arrays_zip flatten get sequence slice sort_array
    |maps:
    |  map map_concat map_contains_key map_entries map_from_arrays map_from_entries map_keys map_values str_to_map
    |structs:
    |  named_struct struct
    |functions of functions:
    |  aggregate array_sort exists filter forall map_filter map_zip_with reduce transform transform_keys
    |  transform_values zip_with
    |JSON:
    |  from_json get_json_object json_array_length json_object_keys schema_of_json to_json
    |CSV:
    |  from_csv schema_of_csv to_csv
    |XML:
    |  from_xml schema_of_xml to_xml xpath xpath_boolean xpath_double xpath_float xpath_int xpath_long xpath_number
    |  xpath_short xpath_string
    |Avro:
    |  from_avro schema_of_avro to_avro
    |variants:
    |  is_valid_variant is_variant_null parse_json schema_of_variant to_variant_object try_parse_json
    |  try_variant_array_append try_variant_get try_variant_insert try_variant_set variant_array_append
    |  variant_delete variant_get variant_insert variant_set variant_strip_nulls
    |sketches:
    |  approx_top_k_estimate hll_sketch_estimate hll_union kll_sketch_get_n_bigint kll_sketch_get_n_double
    |  kll_sketch_get_n_float kll_sketch_get_quantile_bigint kll_sketch_get_quantile_double
    |  kll_sketch_get_quantile_float kll_sketch_get_rank_bigint kll_sketch_get_rank_double
    |  kll_sketch_get_rank_float kll_sketch_to_string_bigint kll_sketch_to_string_double kll_sketch_to_string_float
    |  theta_difference theta_intersection theta_sketch_estimate theta_union tuple_difference_double
    |  tuple_difference_integer tuple_difference_theta_double tuple_difference_theta_integer
    |  tuple_intersection_double tuple_intersection_integer tuple_intersection_theta_double
    |  tuple_intersection_theta_integer tuple_sketch_estimate_double tuple_sketch_estimate_integer
    |  tuple_sketch_summary_double tuple_sketch_summary_integer tuple_sketch_theta_double
    |  tuple_sketch_theta_integer tuple_union_double tuple_union_integer tuple_union_theta_double
    |  tuple_union_theta_integer
    |shapes:
    |  st_asbinary st_geogfromwkb st_geomfromwkb st_setsrid st_srid
    |vectors:
    |  vector_cosine_similarity vector_inner_product vector_l2_distance vector_norm vector_normalize
    |others:
    |  aes_decrypt aes_encrypt assert_true bitmap_bit_position bitmap_bucket_number bitmap_count hmac raise_error
    |  try_aes_decrypt typeof
    |""".stripMargin.linesIterator.filterNot(_.endsWith(":")).flatMap(words).toSet

  private val forbidden = "FUNCTION"

  /** The refused functions. Aggregate, window and generator functions are refused by their groups in the registry. */
  val refused: Map[String, Refusal] = Seq(
    Refusal(forbidden, "runs Java code") -> "java_method reflect try_reflect",
    Refusal(forbidden, "can read local files") ->
      "from_protobuf to_protobuf input_file_name input_file_block_start input_file_block_length",
    Refusal(forbidden, "reads properties of the server or the session") ->
      """current_user session_user user current_catalog current_database current_schema current_path version
        |python_worker_logs sql_keywords collations""",
    Refusal(forbidden, "returns a table, not a value") ->
      "range variant_explode variant_explode_outer json_tuple",
    Refusal("CURRENT_TIME", "returns the current time") ->
      "curdate current_date current_time current_timestamp localtime localtimestamp now",
    // A merged KLL sketch drops items at random.
    Refusal("NOT_DETERMINISTIC", "returns a different value each time") ->
      """monotonically_increasing_id rand randn random randstr shuffle spark_partition_id uniform uuid
        |kll_sketch_merge_bigint kll_sketch_merge_double kll_sketch_merge_float""",
    Refusal("AGGREGATE", "aggregates many records") -> "schema_of_variant_agg vector_avg vector_sum",
    Refusal("WINDOW", "applies to many records") -> "session_window window window_time"
  ).flatMap { case (refusal, names) => words(names).map(_ -> refusal) }.toMap

  private val catalyst = "org.apache.spark.sql.catalyst.expressions."

  /** The classes of which an analyzed expression may consist, with the replacements of those that Spark replaces. */
  val classes: Set[String] = words("""
    |Abs Acos Acosh Add AddMonths AesDecrypt AesEncrypt Alias And ApproxTopKEstimate ArrayAggregate ArrayAppend
    |ArrayCompact ArrayContains ArrayDistinct ArrayExcept ArrayExists ArrayFilter ArrayForAll ArrayInsert
    |ArrayIntersect ArrayJoin ArrayMax ArrayMin ArrayPosition ArrayPrepend ArrayRemove ArrayRepeat ArraySize ArraySort
    |ArrayTransform ArrayUnion ArraysOverlap ArraysZip Ascii Asin Asinh AssertTrue Atan Atan2 Atanh AttributeReference
    |BRound Base32 Base64 Between Bin BinaryPad BinaryPredicate BitLength BitmapBitPosition BitmapBucketNumber
    |BitmapCount BitwiseAnd BitwiseCount BitwiseGet BitwiseNot BitwiseOr BitwiseXor CaseWhen Cast Cbrt Ceil Chr
    |Coalesce Collate Collation CommonExpressionDef CommonExpressionRef Concat ConcatWs Contains Conv ConvertTimezone
    |Cos Cosh Cot Crc32 CreateArray CreateMap CreateNamedStruct Csc CsvToStructs CurrentTimeZone DateAdd
    |DateAddInterval DateAddYMInterval DateDiff DateFormatClass DateFromUnixDate DateSub DatetimeSub DayName
    |DayOfMonth DayOfWeek DayOfYear Decode Divide DivideDTInterval DivideInterval DivideYMInterval ElementAt Elt
    |Encode EndsWith EqualNull EqualNullSafe EqualTo EulerNumber Exp Expm1 Extract ExtractANSIIntervalDays
    |ExtractANSIIntervalHours ExtractANSIIntervalMinutes ExtractANSIIntervalMonths ExtractANSIIntervalSeconds
    |ExtractANSIIntervalYears ExtractIntervalDays ExtractIntervalHours ExtractIntervalMinutes ExtractIntervalMonths
    |ExtractIntervalSeconds ExtractIntervalYears Factorial FindInSet Flatten Floor FormatNumber FormatString FromAvro
    |FromUTCTimestamp FromUnixTime Get GetArrayItem GetArrayStructFields GetJsonObject GetMapValue GetStructField
    |GetTimestamp GreaterThan GreaterThanOrEqual Greatest Hex HllSketchEstimate HllUnion Hmac Hour HoursOfTime Hypot
    |ILike If In InitCap IntegralDivide IsNaN IsNotNull IsNotUnknown$$anon$2 IsNull IsUnknown$$anon$1 IsValidUTF8
    |JaroWinkler JsonObjectKeys JsonToStructs KllSketchGetNBigint KllSketchGetNDouble KllSketchGetNFloat
    |KllSketchGetQuantileBigint KllSketchGetQuantileDouble KllSketchGetQuantileFloat KllSketchGetRankBigint
    |KllSketchGetRankDouble KllSketchGetRankFloat KllSketchToStringBigint KllSketchToStringDouble
    |KllSketchToStringFloat KnownNotContainsNull LambdaFunction LastDay Least Left Length LengthOfJsonArray LessThan
    |LessThanOrEqual Levenshtein Like LikeAll LikeAny Literal Log Log10 Log1p Log2 Logarithm Lower Luhncheck
    |MakeDTInterval MakeDate MakeInterval MakeTime MakeTimestamp MakeTimestampFromDateTime MakeTimestampNTZ
    |MakeValidUTF8 MakeYMInterval MapConcat MapContainsKey MapEntries MapFilter MapFromArrays MapFromEntries MapKeys
    |MapValues MapZipWith Mask Md5 MicrosToTimestamp MillisToTimestamp Minute MinutesOfTime Month MonthName
    |MonthsBetween Multiply MultiplyDTInterval MultiplyInterval MultiplyYMInterval Murmur3Hash NaNvl
    |NamedLambdaVariable NanosToTimestamp NextDay Not NotLikeAll NotLikeAny NullIf NullIfResult NullIfZero Nvl Nvl2
    |OctetLength Or Overlay ParseToDate ParseToTimestamp ParseUrl Pi Pmod Pow Quarter Quote RLike RaiseError
    |RegExpCount RegExpExtract RegExpExtractAll RegExpInStr RegExpReplace RegExpSubStr Remainder ResolvedCollation
    |Reverse Right Rint Round RoundCeil RoundFloor SchemaOfAvro SchemaOfCsv SchemaOfJson SchemaOfXml Sec Second
    |SecondWithFraction SecondsOfTime SecondsOfTimeWithFraction SecondsToTimestamp Sentences Sequence Sha1 Sha2
    |ShiftLeft ShiftRight ShiftRightUnsigned Signum Sin Sinh Size Slice SortArray SoundEx SplitPart Sqrt StartsWith
    |StringDecode StringInstr StringInstrWithOccurrence StringLPad StringLocate StringRPad StringRepeat StringReplace
    |StringSpace StringSplit StringSplitSQL StringToMap StringTranslate StringTrim StringTrimBoth StringTrimLeft
    |StringTrimRight StructsToCsv StructsToJson StructsToXml Substring SubstringIndex Subtract SubtractDates
    |SubtractTimes SubtractTimestamps Tan Tanh ThetaDifference ThetaIntersection ThetaSketchEstimate ThetaUnion
    |TimeAddInterval TimeBucket TimeDiff TimeFromMicros TimeFromMillis TimeFromSeconds TimeToMicros TimeToMillis
    |TimeToSeconds TimeTrunc TimestampAdd TimestampAddInterval TimestampAddYMInterval TimestampDiff ToAvro ToBinary
    |ToCharacter ToDegrees ToNumber ToRadians ToTime ToUTCTimestamp ToUnixTimestamp TransformKeys TransformValues
    |TruncDate TruncTimestamp TryAdd TryAesDecrypt TryDivide TryElementAt TryEval TryMakeInterval TryMakeTimestamp
    |TryMakeTimestampFromDateTime TryMod TryMultiply TryParseUrl TrySubtract TryToBinary TryToNumber TryUrlDecode
    |TryValidateUTF8 TupleDifferenceDouble TupleDifferenceInteger TupleDifferenceThetaDouble
    |TupleDifferenceThetaInteger TupleIntersectionDouble TupleIntersectionInteger TupleIntersectionThetaDouble
    |TupleIntersectionThetaInteger TupleSketchEstimateDouble TupleSketchEstimateInteger TupleSketchSummaryDouble
    |TupleSketchSummaryInteger TupleSketchThetaDouble TupleSketchThetaInteger TupleUnionDouble TupleUnionInteger
    |TupleUnionThetaDouble TupleUnionThetaInteger TypeOf UnBase32 UnBase64 UnaryMinus UnaryPositive Unhex UnixDate
    |UnixMicros UnixMillis UnixNanos UnixSeconds UnixTimestamp Upper UrlDecode UrlEncode ValidateUTF8
    |VectorCosineSimilarity VectorInnerProduct VectorL2Distance VectorNorm VectorNormalize WeekDay WeekOfYear
    |WidthBucket With XmlToStructs XxHash64 Year YearOfWeek ZeroIfNull ZipWith st.ST_AsBinary st.ST_GeogFromWKB
    |st.ST_GeomFromWKB st.ST_SetSrid st.ST_Srid variant.IsValidVariant variant.IsVariantNull variant.ParseJson
    |variant.SchemaOfVariant variant.ToVariantObject variant.VariantArrayAppend variant.VariantDelete
    |variant.VariantGet variant.VariantInsert variant.VariantSet variant.VariantStripNulls xml.XPathBoolean
    |xml.XPathDouble xml.XPathFloat xml.XPathInt xml.XPathList xml.XPathLong xml.XPathShort xml.XPathString
    |""").map(catalyst + _).toSet + classOf[Opaque].getName

  /** The classes of which a parsed expression may consist besides: those for names and places without a type yet. */
  val parsed: Set[String] = words("""
    |analysis.MultiAlias analysis.UnresolvedAlias analysis.UnresolvedAttribute analysis.UnresolvedExtractValue
    |analysis.UnresolvedFunction expressions.NamePlaceholder$ expressions.NamedArgumentExpression
    |expressions.SemiStructuredExtract expressions.UnresolvedCollation expressions.UnresolvedNamedLambdaVariable
    |""").map("org.apache.spark.sql.catalyst." + _).toSet

  /** The Java methods that Spark's replacements may call: their class, followed by their names. */
  val methods: Set[String] = """
    |sql.catalyst.expressions.Base32: encode
    |sql.catalyst.expressions.Base64: encode
    |sql.catalyst.expressions.BitmapExpressionUtils: bitmapBitPosition bitmapBucketNumber bitmapCount
    |sql.catalyst.expressions.Encode: encode
    |sql.catalyst.expressions.ExpressionImplUtils: aesDecrypt aesEncrypt getSentences hmac isLuhnNumber
    |sql.catalyst.expressions.ExpressionImplUtils: jaroWinklerSimilarity quote tryValidateUTF8String validateUTF8String
    |sql.catalyst.expressions.StringDecode: decode
    |sql.catalyst.expressions.ToTimeParser: parse
    |sql.catalyst.expressions.UnBase32: decode
    |sql.catalyst.expressions.UrlCodec$: decode encode
    |sql.catalyst.expressions.VectorFunctionImplUtils: vectorCosineSimilarity vectorInnerProduct vectorL2Distance
    |sql.catalyst.expressions.VectorFunctionImplUtils: vectorNorm vectorNormalize
    |sql.catalyst.expressions.csv.SchemaOfCsvEvaluator: evaluate
    |sql.catalyst.expressions.json.JsonExpressionUtils: jsonObjectKeys lengthOfJsonArray
    |sql.catalyst.expressions.json.SchemaOfJsonEvaluator: evaluate
    |sql.catalyst.expressions.json.StructsToJsonEvaluator: evaluate
    |sql.catalyst.expressions.url.ParseUrlEvaluator: evaluate
    |sql.catalyst.expressions.variant.SchemaOfVariant$: schemaOfVariant
    |sql.catalyst.expressions.variant.VariantExpressionEvalUtils$: isValidVariant isVariantNull parseJson stripNulls
    |sql.catalyst.expressions.xml.XPathBooleanEvaluator: evaluate
    |sql.catalyst.expressions.xml.XPathDoubleEvaluator: evaluate
    |sql.catalyst.expressions.xml.XPathFloatEvaluator: evaluate
    |sql.catalyst.expressions.xml.XPathIntEvaluator: evaluate
    |sql.catalyst.expressions.xml.XPathListEvaluator: evaluate
    |sql.catalyst.expressions.xml.XPathLongEvaluator: evaluate
    |sql.catalyst.expressions.xml.XPathShortEvaluator: evaluate
    |sql.catalyst.expressions.xml.XPathStringEvaluator: evaluate
    |sql.catalyst.expressions.xml.XmlExpressionEvalUtils$: schemaOfXml
    |sql.catalyst.util.DateTimeUtils$: getHoursOfTime getMinutesOfTime getSecondsOfTime getSecondsOfTimeWithFraction
    |sql.catalyst.util.DateTimeUtils$: makeTime makeTimestamp makeTimestampNTZ timeAddInterval timeDiff timeFromMicros
    |sql.catalyst.util.DateTimeUtils$: timeFromMillis timeFromSeconds timeToMicros timeToMillis timeToSeconds timeTrunc
    |sql.catalyst.util.STUtils: stGeogAsBinary stGeogFromWKB stGeogSetSrid stGeogSrid
    |sql.catalyst.util.STUtils: stGeomAsBinary stGeomFromWKB stGeomSetSrid stGeomSrid
    |unsafe.array.ByteArrayMethods: contains endsWith startsWith
    |unsafe.types.ByteArray: lpad rpad
    |unsafe.types.UTF8String: isValid makeValid
    |""".stripMargin.linesIterator
    .filter(_.nonEmpty)
    .flatMap { line =>
      val Array(owner, names) = line.split(": ")
      words(names).map(name => s"org.apache.spark.$owner.$name")
    }
    .toSet

  private val formats = """mode columnNameOfCorruptRecord locale timeZone dateFormat timestampFormat timestampNTZFormat
    |timeFormat enableDateTimeParsingFallback encoding lineSep multiLine preferDate prefersDecimal samplingRatio """

  /**
   * The options of functions, none of which names a file, an address or a schema: of the format in the function's name.
   */
  val options: Map[String, Set[String]] = Map(
    "json" -> (formats + """allowBackslashEscapingAnyCharacter allowComments allowNonNumericNumbers
      |allowNumericLeadingZeros allowSingleQuotes allowUnquotedControlChars allowUnquotedFieldNames dropFieldIfAllNull
      |ignoreNullFields inferTimestamp maxNestingDepth maxStringLen pretty primitivesAsString singleVariantColumn sortKeys
      |writeNonAsciiCharacterAsCodePoint writeNullIfWithDefaultValue"""),
    "csv" -> (formats + """charToEscapeQuoteEscaping comment delimiter emptyValue enforceSchema escape escapeQuotes
      |header ignoreLeadingWhiteSpace ignoreTrailingWhiteSpace inferSchema maxCharsPerColumn maxColumns nanValue
      |negativeInf nullValue positiveInf quote quoteAll sep unescapedQuoteHandling"""),
    "xml" -> (formats + """arrayElementName attributePrefix declaration excludeAttribute ignoreNamespace
      |ignoreSurroundingSpaces indent inferSchema nullValue rootTag rowTag singleVariantColumn validateName valueTag
      |wildcardColName"""),
    "avro" -> "mode datetimeRebaseMode recursiveFieldMaxDepth"
  ).map { case (format, names) => format -> words(names).toSet }

  /** The functions with options, and the position of these among their arguments. */
  val optionsAt: Map[String, Int] = Seq("json", "csv", "xml", "avro").flatMap { format =>
    Seq(s"from_$format" -> 2, s"to_$format" -> 1, s"schema_of_$format" -> 1)
  }.toMap - "to_avro"

  /** The functions that take a type as text, and its position among their arguments. */
  val typesAt: Map[String, Int] =
    Map("from_json" -> 1, "from_csv" -> 1, "from_xml" -> 1, "variant_get" -> 2, "try_variant_get" -> 2)
}
