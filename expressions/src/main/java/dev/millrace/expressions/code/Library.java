package dev.millrace.expressions.code;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Functions that are calls of the run-time library. The table has one a line: the SQL name, for an overload with
 * {@code /kind} of one of its arguments; the Java method; then the arguments that prepare it.
 *
 * <p>{@code Class.method} is static, {@code Class#method} belongs to an object of which each call in the SQL text has
 * one; the object's {@code prepare} takes the arguments named by number, once if they are literals, else for each row.
 * Numbers are NUMERIC as two halves; a {@code ?} marks methods that return whether the result is not NULL; a {@code !} those that have a result only where the object's
 * {@code isDefined} says so of the argument, and fail elsewhere: it is NULL there if it may be; {@code $} adds
 * the scale of the first argument, {@code =} the scale of the result.
 */
final class Library {
    private static final String TABLE = """
            add/bignum            number.Bignums.add
            subtract/bignum       number.Bignums.subtract
            multiply/bignum       number.Bignums.multiply
            divide/bignum         number.Bignums.divide
            mod/bignum            number.Bignums.mod
            div/bignum            number.Bignums.div
            gcd/bignum            number.Bignums.gcd
            lcm/bignum            number.Bignums.lcm
            negate/bignum         number.Bignums.negate
            abs/bignum            number.Bignums.abs
            sign/bignum           number.Bignums.sign
            ceil/bignum           number.Bignums.ceil
            floor/bignum          number.Bignums.floor
            round/bignum          number.Bignums.round
            trunc/bignum          number.Bignums.trunc
            trim_scale            number.Bignums.trimScale
            sqrt/bignum           number.Bignums.sqrt
            exp/bignum            number.Bignums.exp
            ln/bignum             number.Bignums.ln
            log10/bignum          number.Bignums.log10
            log/bignum            number.Bignums.log
            power/bignum          number.Bignums.power
            float8send            number.FloatBytes.ofDouble
            float4send            number.FloatBytes.ofReal
            rounded_text          number.RoundedTexts.of
            rounded_text/real     number.RoundedTexts.ofReal
            width_bucket/bignum   number.Bignums.widthBucket
            to_char/bignum        number.NumberPattern#formatBignum 1
            ceil                  number.Numbers.ceil
            floor                 number.Numbers.floor
            round                 number.Numbers.round
            trunc                 number.Numbers.trunc
            sign                  number.Numbers.sign
            sqrt                  number.Numbers.sqrt
            cbrt                  number.Numbers.cbrt
            exp                   number.Numbers.exp
            ln                    number.Numbers.ln
            log10                 number.Numbers.log10
            log                   number.Numbers.log
            power                 number.Numbers.power
            gcd                   number.Numbers.gcd
            lcm                   number.Numbers.lcm
            width_bucket          number.Numbers.widthBucket
            width_bucket/array    number.Numbers.widthBucket
            factorial             number.Numbers.factorial
            gamma                 number.GammaFunction.gamma
            lgamma                number.GammaFunction.lgamma
            scale                 number.Numbers.scale $
            min_scale             number.Numbers.leastScale $
            asinh                 number.Trigonometry.asinh
            acosh                 number.Trigonometry.acosh
            atanh                 number.Trigonometry.atanh
            sind                  number.Trigonometry.sind
            cosd                  number.Trigonometry.cosd
            tand                  number.Trigonometry.tand
            cotd                  number.Trigonometry.cotd
            asind                 number.Trigonometry.asind
            acosd                 number.Trigonometry.acosd
            atand                 number.Trigonometry.atand
            atan2d                number.Trigonometry.atan2d
            pi                    number.Trigonometry.pi
            haversine             number.GreatCircle.haversine
            error_bound           number.Bounds.error
            lower_bound           number.Bounds.same
            upper_bound           number.Bounds.same
            bound_low             number.Bounds.low
            bound_high            number.Bounds.high
            bound_real_low        number.Bounds.realLow
            bound_real_high       number.Bounds.realHigh
            bound_scaled          number.Bounds.scaled
            bound_whole_low       number.Bounds.wholeLow
            bound_whole_high      number.Bounds.wholeHigh
            bound_real            number.Bounds.real
            bound_add_low         number.Bounds.addLow
            bound_add_high        number.Bounds.addHigh
            bound_multiply_low    number.Bounds.multiplyLow
            bound_multiply_high   number.Bounds.multiplyHigh
            bound_divide_low      number.Bounds.divideLow
            bound_divide_high     number.Bounds.divideHigh
            bound_negate_low      number.Bounds.negateLow
            bound_negate_high     number.Bounds.negateHigh
            bound_abs_low         number.Bounds.absLow
            bound_abs_high        number.Bounds.absHigh
            bound_root            number.Bounds.root
            bound_total_low       number.Bounds.totalLow
            bound_total_high      number.Bounds.totalHigh
            bound_distance        number.Bounds.distance
            bound_top             number.Bounds.top
            bound_within          ErrorLimit.check
            at_most_one_row       number.Numbers.atMostOneRow
            sleep_seconds         Pauses.sleep
            null_name             QuotedTexts.nullName
            degrees               number.Trigonometry.degrees
            radians               number.Trigonometry.radians
            sin                   number.Trigonometry.sin
            cos                   number.Trigonometry.cos
            tan                   number.Trigonometry.tan
            cot                   number.Trigonometry.cot
            asin                  number.Trigonometry.asin
            acos                  number.Trigonometry.acos
            atan                  number.Trigonometry.atan
            atan2                 number.Trigonometry.atan2
            sinh                  number.Trigonometry.sinh
            cosh                  number.Trigonometry.cosh
            tanh                  number.Trigonometry.tanh

            text_concat           Texts.concat
            length                Texts.length
            length/bytea          Texts.octetLength
            bit_count             Binaries.bitCount
            get_byte              Binaries.getByte
            get_bit               Binaries.getBit
            set_byte              Binaries.setByte
            set_bit               Binaries.setBit
            sha224                Binaries.sha224
            sha256                Binaries.sha256
            sha384                Binaries.sha384
            sha512                Binaries.sha512
            convert_from          Binaries.convertFrom
            convert_to            Binaries.convertTo
            substring/bytea       Binaries.substring
            overlay/bytea         Binaries.overlay
            btrim/bytea           Binaries.btrim
            ltrim/bytea           Binaries.ltrim
            rtrim/bytea           Binaries.rtrim
            strpos/bytea          Binaries.position
            quote_ident           QuotedTexts.identifier
            quote_text            QuotedTexts.literal
            pad_text              QuotedTexts.pad
            unistr                QuotedTexts.unescape
            normalize             QuotedTexts.normalize
            octet_length          Texts.octetLength
            bit_length            Texts.bitLength
            lower                 Letters.lower
            upper                 Letters.upper
            initcap               Letters.initcap
            substring             Texts.substring
            overlay               Texts.overlay
            left                  Texts.left
            right                 Texts.right
            btrim                 Trimming.btrim
            ltrim                 Trimming.ltrim
            rtrim                 Trimming.rtrim
            lpad                  Trimming.lpad
            rpad                  Trimming.rpad
            strpos                Texts.strpos
            replace               Texts.replace
            translate             Texts.translate
            reverse               Texts.reverse
            repeat                Texts.repeat
            split_part            Texts.splitPart
            split_index           ?Texts.splitIndex
            starts_with           Texts.startsWith
            ascii                 Texts.ascii
            chr                   Texts.chr
            md5                   Encodings.md5
            to_hex                Encodings.toHex
            to_oct                Encodings.toOct
            to_bin                Encodings.toBin
            crc32                 Binaries.crc32
            crc32c                Binaries.crc32c
            reverse/bytea         Binaries.reverse
            count_char            Texts.countChar
            sha1                  Encodings.sha1
            levenshtein           TextDistances.levenshtein
            damerau_levenshtein   TextDistances.damerauLevenshtein
            hamming               TextDistances.hamming
            jaccard               TextDistances.jaccard
            jaro_similarity       TextDistances.jaro
            jaro_winkler_similarity TextDistances.jaroWinkler
            similarity            TextDistances.similarity
            soundex               TextDistances.soundex
            difference            TextDistances.difference
            strip_accents         TextForms.withoutAccents
            url_encode            TextForms.urlEncode
            url_decode            TextForms.urlDecode
            to_base               TextForms.toBase
            format_bytes          TextForms.binarySize
            format_size           TextForms.decimalSize
            bar                   TextForms.bar
            glob_pattern          TextForms.globPattern
            text_slice            TextForms.slice
            encode                Encodings.encode
            decode                Encodings.decode

            like                  pattern.LikePattern#matches 1 2
            ilike                 pattern.CaselessLikePattern#matches 1 2
            similar_to            pattern.SimilarTo#matches 1 2
            regex_match           pattern.RegexFunction#matches 1
            regex_imatch          pattern.CaselessRegexFunction#matches 1
            regexp_like           pattern.RegexFunction#matches 1 2
            regexp_count          pattern.RegexFunction#count 1
            regexp_substr         ?pattern.RegexFunction#first 1
            regexp_replace        pattern.RegexReplacement#replace 1 3
            regexp_extract        ?pattern.RegexFunction#group 1
            substring_similar     ?pattern.SimilarTo#substring 1 2
            regexp_part           ?pattern.RegexParts#part 1 4
            regexp_place          pattern.RegexParts#place 1 5
            regexp_count_from     pattern.RegexParts#count 1 3
            regexp_replace_from   pattern.RegexParts#replace 1 5
            substring_regex       ?pattern.RegexFunction#substring 1

            date_trunc            time.DateTrunc#timestamp 0
            date_trunc/interval   time.DateTrunc#interval 0
            date_part             !time.DatePart#ofTimestamp 0
            date_part/timestamptz !time.DatePart#ofTimestamptz 0
            date_part/date        !time.DatePart#ofDate 0
            date_part/time        time.DatePart#ofTime 0
            date_part/interval    time.DatePart#ofInterval 0
            extract               !time.DatePart#extractTimestamp 0 =
            extract/timestamptz   !time.DatePart#extractTimestamptz 0 =
            extract/date          !time.DatePart#extractDate 0 =
            extract/time          time.DatePart#extractTime 0 =
            extract/interval      time.DatePart#extractInterval 0 =
            isfinite              time.Timestamps.isFinite
            isfinite/date         time.Timestamps.isFiniteDate
            isfinite/interval     time.Intervals.isFinite
            date_bin              time.Timestamps.bin
            time_bucket           time.TimeBuckets.of
            time_bucket/date      time.TimeBuckets.ofDate
            to_timestamp          time.TimestampPattern#parse 1
            to_timestamp/double   time.Timestamps.ofEpochSeconds
            to_date               time.TimestampPattern#parseDate 1
            to_char               !time.TimestampPattern#format 1
            to_char/timestamptz   !time.TimestampPattern#formatWithZone 1
            to_char/interval      time.TimestampPattern#formatInterval 1
            to_char/bigint        number.NumberPattern#formatBigint 1
            to_char/numeric       number.NumberPattern#formatNumeric 1 $
            to_char/double        number.NumberPattern#formatDouble 1
            to_number             number.NumberPattern#parse 1 =
            whole_months          time.Timestamps.wholeMonths
            epoch_ms              time.Timestamps.toEpochMillis
            epoch_ms/interval     time.Intervals.toEpochMillis
            epoch_ms/bigint       time.Timestamps.ofEpochMillis
            strftime              time.StrftimePattern#format 1
            strftime/timestamptz  time.StrftimePattern#formatWithZone 1
            strptime              time.StrftimePattern#parse 1
            strptime_fits         time.StrftimePattern#fits 1
            make_date             time.Timestamps.makeDate
            make_time             time.Timestamps.makeTime
            make_timestamp        time.Timestamps.makeTimestamp
            interval_of           time.Intervals.of
            round_time            time.Timestamps.rounded
            round_time/interval   time.Intervals.rounded
            age                   time.Timestamps.age
            justify_hours         time.Intervals.justifyHours
            justify_days          time.Intervals.justifyDays
            justify_interval      time.Intervals.justify
            timezone              time.ZonedTimes#toUtc 0
            timezone/timestamptz  time.ZonedTimes#fromUtc 0
            styled_text           time.StyledTimes#timestamp 1
            styled_text/date      time.StyledTimes#date 1
            styled_text/interval  time.StyledTimes#interval 1
            styled_date           time.StyledTimes#parseDate 1
            styled_timestamp      time.StyledTimes#parseTimestamp 1
            zoned_text            time.StyledTimes#timestamptz 1
            zone_seconds          time.ZonedTimes#seconds 1
            zoned_timestamptz     time.StyledTimes#parseTimestamptz 1
            zoned_to_char         !time.ZonedPattern#format 1 2
            zoned_to_timestamp    time.ZonedPattern#parse 1 2
            zoned_add             time.ZonedTimes#add 2
            zoned_subtract        time.ZonedTimes#subtract 2

            regexp_match          ?pattern.RegexFunction#groups 1 2
            regexp_split_to_array pattern.RegexFunction#split 1 2
            regexp_all_matches    pattern.RegexFunction#allGroups 1 2
            regexp_one_match      pattern.RegexFunction#firstGroups 1 2
            array_product         nested.NumberLists.product
            array_sum_whole       nested.NumberLists.sumWhole
            array_sum_numeric     nested.NumberLists.sumNumeric
            array_sum_double      nested.NumberLists.sumDouble
            array_mad             nested.NumberLists.medianDeviation
            array_increase        nested.NumberLists.increase
            array_weighted_avg    nested.NumberLists.weightedByTime
            list_dot_product      nested.NumberLists.dot
            list_cosine_similarity nested.NumberLists.cosine
            list_distance         nested.NumberLists.distance
            array_cont            nested.ArrayFraction.between
            array_bit_and         nested.ArrayBits.and
            array_bit_or          nested.ArrayBits.or
            array_bit_xor         nested.ArrayBits.xor
            json_elements         nested.JsonParts.elements
            json_elements_text    nested.JsonParts.elementsText
            parse_ident           nested.NameParts.parse
            json_keys             nested.JsonParts.keys
            json_entries          nested.JsonParts.entries
            json_entries_text     nested.JsonParts.entriesText
            json_get              ?nested.JsonFunctions.get
            json_get_text         ?nested.JsonFunctions.getText
            json_at               ?nested.JsonFunctions.at
            json_at_text          ?nested.JsonFunctions.atText
            json_contains         nested.JsonFunctions.contains
            json_has              nested.JsonFunctions.has
            json_has_any          nested.JsonFunctions.hasAny
            json_has_all          nested.JsonFunctions.hasAll
            json_concat           nested.JsonEdits#concat
            json_delete           nested.JsonEdits#delete
            json_delete/array     nested.JsonEdits#deleteAll
            json_delete_path      nested.JsonEdits#deletePath
            json_object_only      ?nested.JsonRecords.object
            json_array_text       ?nested.JsonRecords.arrayText
            json_path             jsonpath.JsonPathCall#normal 0
            json_path_query       jsonpath.JsonPathCall#query 1
            json_path_array       jsonpath.JsonPathCall#array 1
            json_path_first       ?jsonpath.JsonPathCall#first 1
            json_path_exists      ?jsonpath.JsonPathCall#exists 1
            json_path_match       ?jsonpath.JsonPathCall#match 1
            jsonb_typeof          nested.JsonFunctions.typeOf
            jsonb_array_length    nested.JsonFunctions.arrayLength
            jsonb_object          nested.JsonEdits#object
            jsonb_strip_nulls     nested.JsonForms.stripNulls
            jsonb_pretty          nested.JsonForms.pretty
            jsonb_set             nested.JsonEdits#set
            jsonb_insert          nested.JsonEdits#insert
            json_assign           nested.JsonEdits#assign
            """;

    private static final String PACKAGE = "dev.millrace.expressions.function.";
    private static final Map<String, Entry> ENTRIES = parse();

    private record Entry(
            String className,
            String method,
            boolean isStatic,
            boolean nullable,
            boolean partial,
            List<Integer> prepared,
            String scale) {}

    private final ExpressionCompiler compiler;

    Library(ExpressionCompiler compiler) {
        this.compiler = compiler;
    }

    private static Map<String, Entry> parse() {
        Map<String, Entry> entries = new HashMap<>();
        TABLE.lines().filter(line -> !line.isBlank()).forEach(line -> {
            String[] words = line.trim().split(" +");
            boolean nullable = words[1].startsWith("?");
            boolean partial = words[1].startsWith("!");
            String target = words[1].substring(nullable || partial ? 1 : 0);
            boolean isStatic = target.indexOf('#') < 0;
            int dot = Math.max(target.lastIndexOf('.'), target.lastIndexOf('#'));
            String[] names = {target.substring(0, dot), target.substring(dot + 1)};
            List<Integer> prepared = new ArrayList<>();
            String scale = "";
            for (int i = 2; i < words.length; i++) {
                if (Character.isDigit(words[i].charAt(0))) {
                    prepared.add(Integer.parseInt(words[i]));
                } else {
                    scale = words[i];
                }
            }
            entries.put(words[0], new Entry(names[0], names[1], isStatic, nullable, partial, prepared, scale));
        });
        return entries;
    }

    private static Entry find(Call call) {
        for (Expression argument : call.arguments()) {
            String kind = argument.type().kind().name().toLowerCase(java.util.Locale.ROOT);
            Entry entry = ENTRIES.get(call.function() + "/" + kind);
            if (entry != null) {
                return entry;
            }
        }
        Entry entry = ENTRIES.get(call.function());
        if (entry == null) {
            throw new IllegalArgumentException("the library has no function " + call);
        }
        return entry;
    }

    Value compile(Call call) {
        if (call.function().equals("concat") || call.function().equals("concat_ws")) {
            return new Concatenation(compiler).compile(call);
        }
        Entry entry = find(call);
        List<Value> values = new ArrayList<>();
        for (Expression argument : call.arguments()) {
            Value value = compiler.compile(argument);
            boolean dateAsTimestamp =
                    argument.type().kind() == Kind.DATE && call.function().equals("date_trunc");
            values.add(dateAsTimestamp ? compiler.casts().cast(value, DataType.TIMESTAMP) : value);
        }
        String arguments = arguments(entry, call, values);
        if (entry.isStatic()) {
            String target = compiler.kernel().use(load(entry.className())) + "." + entry.method() + "(" + arguments;
            return compiler.strictCall(call.type(), values, target, entry.nullable());
        }
        return withObject(entry, call, values, arguments);
    }

    private static String arguments(Entry entry, Call call, List<Value> values) {
        List<String> arguments = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            if (!entry.prepared().contains(i)) {
                Value value = values.get(i);
                boolean numeric = value.type().kind() == Kind.NUMERIC;
                arguments.add(numeric ? Numerics.wide(value) : value.arguments());
            }
        }
        if (entry.scale().equals("$")) {
            arguments.add(Integer.toString(values.get(0).type().scale()));
        } else if (entry.scale().equals("=")) {
            arguments.add(Integer.toString(call.type().scale()));
        }
        return String.join(", ", arguments);
    }

    private Value withObject(Entry entry, Call call, List<Value> values, String arguments) {
        Class<?> javaType = load(entry.className());
        String type = compiler.kernel().use(javaType);
        boolean ownsMemory = AutoCloseable.class.isAssignableFrom(javaType);
        String created = ownsMemory ? "own(new " + type + "(literals.allocator()))" : "new " + type + "()";
        String object = compiler.kernel().field(type, "f", ownsMemory ? "(" + type + ") " + created : created);
        boolean constant = true;
        List<String> preparing = new ArrayList<>();
        for (int index : entry.prepared()) {
            if (index < values.size()) {
                constant &= call.arguments().get(index) instanceof Literal;
                preparing.add(values.get(index).arguments());
            }
        }
        if (entry.prepared().isEmpty()) {
            return compiler.strictCall(
                    call.type(), values, object + "." + entry.method() + "(" + arguments, entry.nullable());
        }
        String prepare = object + ".prepare(" + String.join(", ", preparing) + ")";
        String result = object + "." + entry.method() + "(" + arguments;
        if (constant) {
            compiler.kernel().inConstructor(prepare + ";");
            List<Value> given = entry.partial() && call.nullable() ? defined(entry, values, object) : values;
            return compiler.strictCall(call.type(), given, result, entry.nullable());
        }
        return compiler.strictCall(call.type(), values, List.of(prepare), result, entry.nullable());
    }

    /** The arguments, and one more that is NULL where there is no result. */
    private List<Value> defined(Entry entry, List<Value> values, String object) {
        int argument = entry.prepared().contains(0) ? 1 : 0;
        String isDefined = object + ".isDefined(" + values.get(argument).arguments() + ")";
        String isNull = compiler.local("boolean", "n", "!" + isDefined);
        List<Value> given = new ArrayList<>(values);
        given.add(Value.of(DataType.BOOLEAN, isNull, "true"));
        return given;
    }

    private static Class<?> load(String className) {
        try {
            return Class.forName(PACKAGE + className);
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException("the library's table names a class that is not there", e);
        }
    }
}
