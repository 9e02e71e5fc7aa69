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
 * Numbers are NUMERIC as two halves; a {@code ?} marks methods that return whether the result is not NULL; {@code $} adds
 * the scale of the first argument, {@code =} the scale of the result.
 */
final class Library {
    private static final String TABLE = """
            ceil                  Numbers.ceil
            floor                 Numbers.floor
            round                 Numbers.round
            trunc                 Numbers.trunc
            sign                  Numbers.sign
            sqrt                  Numbers.sqrt
            cbrt                  Numbers.cbrt
            exp                   Numbers.exp
            ln                    Numbers.ln
            log10                 Numbers.log10
            log                   Numbers.log
            power                 Numbers.power
            gcd                   Numbers.gcd
            lcm                   Numbers.lcm
            width_bucket          Numbers.widthBucket
            width_bucket/array    Numbers.widthBucket
            factorial             Numbers.factorial
            scale                 Numbers.scale $
            min_scale             Numbers.leastScale $
            asinh                 Trigonometry.asinh
            acosh                 Trigonometry.acosh
            atanh                 Trigonometry.atanh
            sind                  Trigonometry.sind
            cosd                  Trigonometry.cosd
            tand                  Trigonometry.tand
            cotd                  Trigonometry.cotd
            asind                 Trigonometry.asind
            acosd                 Trigonometry.acosd
            atand                 Trigonometry.atand
            atan2d                Trigonometry.atan2d
            pi                    Trigonometry.pi
            at_most_one_row       Numbers.atMostOneRow
            sleep_seconds         Pauses.sleep
            null_name             QuotedTexts.nullName
            degrees               Trigonometry.degrees
            radians               Trigonometry.radians
            sin                   Trigonometry.sin
            cos                   Trigonometry.cos
            tan                   Trigonometry.tan
            cot                   Trigonometry.cot
            asin                  Trigonometry.asin
            acos                  Trigonometry.acos
            atan                  Trigonometry.atan
            atan2                 Trigonometry.atan2
            sinh                  Trigonometry.sinh
            cosh                  Trigonometry.cosh
            tanh                  Trigonometry.tanh

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

            like                  LikePattern#matches 1 2
            ilike                 CaselessLikePattern#matches 1 2
            similar_to            SimilarTo#matches 1 2
            regex_match           RegexFunction#matches 1
            regex_imatch          CaselessRegexFunction#matches 1
            regexp_like           RegexFunction#matches 1 2
            regexp_count          RegexFunction#count 1
            regexp_substr         ?RegexFunction#first 1
            regexp_replace        RegexReplacement#replace 1 3
            regexp_extract        ?RegexFunction#group 1
            substring_similar     ?SimilarTo#substring 1 2
            regexp_part           ?RegexParts#part 1 4
            regexp_place          RegexParts#place 1 5
            regexp_count_from     RegexParts#count 1 3
            regexp_replace_from   RegexParts#replace 1 5
            substring_regex       ?RegexFunction#substring 1

            date_trunc            DateTrunc#timestamp 0
            date_trunc/interval   DateTrunc#interval 0
            date_part             DatePart#ofTimestamp 0
            date_part/timestamptz DatePart#ofTimestamptz 0
            date_part/date        DatePart#ofDate 0
            date_part/time        DatePart#ofTime 0
            date_part/interval    DatePart#ofInterval 0
            extract               DatePart#extractTimestamp 0 =
            extract/timestamptz   DatePart#extractTimestamptz 0 =
            extract/date          DatePart#extractDate 0 =
            extract/time          DatePart#extractTime 0 =
            extract/interval      DatePart#extractInterval 0 =
            date_bin              Timestamps.bin
            time_bucket           TimeBuckets.of
            time_bucket/date      TimeBuckets.ofDate
            to_timestamp          TimestampPattern#parse 1
            to_timestamp/double   Timestamps.ofEpochSeconds
            to_date               TimestampPattern#parseDate 1
            to_char               TimestampPattern#format 1
            to_char/timestamptz   TimestampPattern#formatWithZone 1
            to_char/interval      TimestampPattern#formatInterval 1
            to_char/bigint        NumberPattern#formatBigint 1
            to_char/numeric       NumberPattern#formatNumeric 1 $
            to_char/double        NumberPattern#formatDouble 1
            to_number             NumberPattern#parse 1 =
            whole_months          Timestamps.wholeMonths
            epoch_ms              Timestamps.toEpochMillis
            epoch_ms/interval     Intervals.toEpochMillis
            epoch_ms/bigint       Timestamps.ofEpochMillis
            strftime              StrftimePattern#format 1
            strftime/timestamptz  StrftimePattern#formatWithZone 1
            strptime              StrftimePattern#parse 1
            strptime_fits         StrftimePattern#fits 1
            make_date             Timestamps.makeDate
            make_time             Timestamps.makeTime
            make_timestamp        Timestamps.makeTimestamp
            interval_of           Intervals.of
            round_time            Timestamps.rounded
            round_time/interval   Intervals.rounded
            age                   Timestamps.age
            justify_hours         Intervals.justifyHours
            justify_days          Intervals.justifyDays
            justify_interval      Intervals.justify
            timezone              TimeZoneConversion#toUtc 0
            timezone/timestamptz  TimeZoneConversion#fromUtc 0

            regexp_match          ?RegexFunction#groups 1 2
            regexp_split_to_array RegexFunction#split 1 2
            regexp_all_matches    RegexFunction#allGroups 1 2
            regexp_one_match      RegexFunction#firstGroups 1 2
            array_product         nested.NumberLists.product
            array_sum_whole       nested.NumberLists.sumWhole
            array_sum_numeric     nested.NumberLists.sumNumeric
            array_sum_double      nested.NumberLists.sumDouble
            array_mad             nested.NumberLists.medianDeviation
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
            """;

    private static final String PACKAGE = "dev.millrace.expressions.function.";
    private static final Map<String, Entry> ENTRIES = parse();

    private record Entry(
            String className,
            String method,
            boolean isStatic,
            boolean nullable,
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
            String target = words[1].substring(nullable ? 1 : 0);
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
            entries.put(words[0], new Entry(names[0], names[1], isStatic, nullable, prepared, scale));
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
            return compiler.strictCall(call.type(), values, result, entry.nullable());
        }
        return compiler.strictCall(call.type(), values, List.of(prepare), result, entry.nullable());
    }

    private static Class<?> load(String className) {
        try {
            return Class.forName(PACKAGE + className);
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException("the library's table names a class that is not there", e);
        }
    }
}
