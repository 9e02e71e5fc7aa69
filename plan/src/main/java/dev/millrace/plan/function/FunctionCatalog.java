package dev.millrace.plan.function;

import dev.millrace.plan.function.Signature.Parameter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * All scalar functions and operators, by canonical name. Operators have names here; their spelling in SQL is the front
 * end's. Names that are only another spelling (such as {@code char_length}) are {@link #ALIASES}.
 *
 * <p>One signature a line: {@code name(parameter, ...) result}. A parameter is a type's kind; {@code any} takes every
 * type, {@code T} every type but the same in all places; {@code T[]} and {@code text[]} take arrays; {@code ...} after
 * the last one repeats it; {@code ?} after it makes it optional. The result is a type, {@code T}, a parameter number as
 * {@code =1}, or the name of a {@link ResultRule}. A leading {@code !} marks functions that see NULL arguments; the others
 * give NULL when any argument is NULL. Those of arrays, rows and JSONB are in {@link NestedSignatures}.
 */
public final class FunctionCatalog {
    private static final String SIGNATURES = """
            eq(T, T) boolean
            ne(T, T) boolean
            lt(T, T) boolean
            le(T, T) boolean
            gt(T, T) boolean
            ge(T, T) boolean
            !is_distinct_from(T, T) boolean
            !is_not_distinct_from(T, T) boolean
            !is_null(any) boolean
            !is_not_null(any) boolean
            !is_true(boolean) boolean
            !is_not_true(boolean) boolean
            !is_false(boolean) boolean
            !is_not_false(boolean) boolean
            !and(boolean...) boolean
            !or(boolean...) boolean
            not(boolean) boolean
            !coalesce(T...) =1
            !nullif(T, T) =1
            !greatest(T...) =1
            !least(T...) =1

            add(smallint, smallint) smallint
            add(integer, integer) integer
            add(bigint, bigint) bigint
            add(numeric, numeric) numeric_add
            add(bignum, bignum) bignum
            add(real, real) real
            add(double, double) double
            add(date, integer) date
            add(date, interval) timestamp
            add(date, time) timestamp
            add(time, interval) time
            add(timestamp, interval) timestamp
            add(timestamptz, interval) timestamptz
            add(interval, interval) interval
            subtract(smallint, smallint) smallint
            subtract(integer, integer) integer
            subtract(bigint, bigint) bigint
            subtract(numeric, numeric) numeric_add
            subtract(bignum, bignum) bignum
            subtract(real, real) real
            subtract(double, double) double
            subtract(date, integer) date
            subtract(date, date) integer
            subtract(date, interval) timestamp
            subtract(time, interval) time
            subtract(time, time) interval
            subtract(timestamp, interval) timestamp
            subtract(timestamptz, interval) timestamptz
            subtract(timestamp, timestamp) interval
            subtract(timestamptz, timestamptz) interval
            subtract(interval, interval) interval
            multiply(smallint, smallint) smallint
            multiply(integer, integer) integer
            multiply(bigint, bigint) bigint
            multiply(numeric, numeric) numeric_multiply
            multiply(bignum, bignum) bignum
            multiply(real, real) real
            multiply(double, double) double
            multiply(interval, double) interval
            divide(smallint, smallint) smallint
            divide(integer, integer) integer
            divide(bigint, bigint) bigint
            divide(numeric, numeric) numeric_divide
            divide(bignum, bignum) bignum
            divide(real, real) real
            divide(double, double) double
            divide(interval, double) interval
            mod(smallint, smallint) smallint
            mod(integer, integer) integer
            mod(bigint, bigint) bigint
            mod(numeric, numeric) numeric_mod
            mod(bignum, bignum) bignum
            negate(smallint) smallint
            negate(integer) integer
            negate(bigint) bigint
            negate(numeric) =1
            negate(bignum) bignum
            negate(real) real
            negate(double) double
            negate(interval) interval
            bit_and(smallint, smallint) smallint
            bit_and(integer, integer) integer
            bit_and(bigint, bigint) bigint
            bit_or(smallint, smallint) smallint
            bit_or(integer, integer) integer
            bit_or(bigint, bigint) bigint
            bit_xor(smallint, smallint) smallint
            bit_xor(integer, integer) integer
            bit_xor(bigint, bigint) bigint
            bit_not(smallint) smallint
            bit_not(integer) integer
            bit_not(bigint) bigint
            shift_left(smallint, integer) smallint
            shift_left(integer, integer) integer
            shift_left(bigint, integer) bigint
            shift_right(smallint, integer) smallint
            shift_right(integer, integer) integer
            shift_right(bigint, integer) bigint

            abs(smallint) smallint
            abs(integer) integer
            abs(bigint) bigint
            abs(numeric) =1
            abs(bignum) bignum
            abs(real) real
            abs(double) double
            ceil(numeric) numeric_integral
            ceil(bignum) bignum
            ceil(double) double
            floor(numeric) numeric_integral
            floor(bignum) bignum
            floor(double) double
            round(numeric) numeric_integral
            round(numeric, integer) numeric_rounded
            round(bignum) bignum
            round(bignum, integer) bignum
            round(double) double
            trunc(numeric) numeric_integral
            trunc(numeric, integer) numeric_rounded
            trunc(bignum) bignum
            trunc(bignum, integer) bignum
            trunc(double) double
            sign(numeric) numeric_integral
            sign(bignum) bignum
            sign(double) double
            sqrt(bignum) bignum
            sqrt(double) double
            cbrt(double) double
            exp(bignum) bignum
            exp(double) double
            ln(bignum) bignum
            ln(double) double
            log10(bignum) bignum
            log10(double) double
            log(bignum, bignum) bignum
            log(double, double) double
            power(bignum, bignum) bignum
            power(double, double) double
            div(numeric, numeric) numeric_div
            div(bignum, bignum) bignum
            gcd(integer, integer) integer
            gcd(bigint, bigint) bigint
            gcd(bignum, bignum) bignum
            lcm(integer, integer) integer
            lcm(bigint, bigint) bigint
            lcm(bignum, bignum) bignum
            width_bucket(bignum, bignum, bignum, integer) integer
            width_bucket(double, double, double, integer) integer
            width_bucket(double, double[]) integer
            factorial(bigint) factorial
            gamma(double) double
            lgamma(double) double
            scale(numeric) integer
            scale(bignum) integer
            min_scale(numeric) integer
            min_scale(bignum) integer
            trim_scale(bignum) bignum
            pi() double
            degrees(double) double
            radians(double) double
            sin(double) double
            cos(double) double
            tan(double) double
            cot(double) double
            asin(double) double
            acos(double) double
            atan(double) double
            atan2(double, double) double
            sinh(double) double
            cosh(double) double
            tanh(double) double
            asinh(double) double
            acosh(double) double
            atanh(double) double
            sind(double) double
            cosd(double) double
            tand(double) double
            cotd(double) double
            asind(double) double
            acosd(double) double
            atand(double) double
            atan2d(double, double) double
            haversine(double, double, double, double) double

            text_concat(text, text) text
            text_concat(bytea, bytea) bytea
            !concat(any...) text
            !concat_ws(text, any...) text
            length(text) integer
            length(bytea) integer
            octet_length(text) integer
            octet_length(bytea) integer
            bit_length(text) integer
            bit_length(bytea) integer
            bit_count(bytea) bigint
            get_byte(bytea, integer) integer
            get_bit(bytea, bigint) integer
            set_byte(bytea, integer, integer) bytea
            set_bit(bytea, bigint, integer) bytea
            sha224(bytea) bytea
            sha256(bytea) bytea
            sha384(bytea) bytea
            sha512(bytea) bytea
            convert_from(bytea, text) text
            convert_to(text, text) bytea
            quote_ident(text) text
            quote_text(text) text
            pad_text(text, integer) text
            unistr(text) text
            normalize(text, text?) text
            lower(text) text
            upper(text) text
            initcap(text) text
            substring(text, integer, integer?) text
            substring(bytea, integer, integer?) bytea
            substring_similar(text, text, text) text
            substring_regex(text, text) text
            overlay(text, text, integer, integer?) text
            overlay(bytea, bytea, integer, integer?) bytea
            left(text, integer) text
            right(text, integer) text
            btrim(text, text?) text
            btrim(bytea, bytea) bytea
            ltrim(text, text?) text
            ltrim(bytea, bytea) bytea
            rtrim(text, text?) text
            rtrim(bytea, bytea) bytea
            lpad(text, integer, text?) text
            rpad(text, integer, text?) text
            strpos(text, text) integer
            strpos(bytea, bytea) integer
            replace(text, text, text) text
            translate(text, text, text) text
            reverse(text) text
            repeat(text, integer) text
            split_part(text, text, integer) text
            split_index(text, text, integer) text
            starts_with(text, text) boolean
            ascii(text) integer
            chr(integer) text
            md5(text) text
            md5(bytea) text
            to_hex(integer) text
            to_hex(bigint) text
            to_oct(integer) text
            to_oct(bigint) text
            to_bin(integer) text
            to_bin(bigint) text
            levenshtein(text, text) integer
            levenshtein(text, text, integer, integer, integer) integer
            damerau_levenshtein(text, text) integer
            hamming(text, text) integer
            jaccard(text, text) double
            jaro_similarity(text, text) double
            jaro_winkler_similarity(text, text) double
            similarity(text, text) double
            soundex(text) text
            difference(text, text) integer
            strip_accents(text) text
            url_encode(text) text
            url_decode(text) text
            to_base(bigint, integer) text
            format_bytes(bigint) text
            format_size(bigint) text
            bar(double, double, double, double?) text
            glob_pattern(text) text
            text_slice(text, integer, integer) text
            sha1(text) text
            crc32(bytea) bigint
            crc32c(bytea) bigint
            reverse(bytea) bytea
            count_char(text, text) bigint
            encode(bytea, text) text
            decode(text, text) bytea
            like(text, text, text?) boolean
            ilike(text, text, text?) boolean
            similar_to(text, text, text?) boolean
            regex_match(text, text) boolean
            regex_imatch(text, text) boolean
            regexp_like(text, text, text?) boolean
            regexp_count(text, text) integer
            regexp_substr(text, text) text
            regexp_replace(text, text, text, text?) text
            regexp_part(text, text, integer, integer, text, integer) text
            regexp_place(text, text, integer, integer, integer, text, integer) integer
            regexp_count_from(text, text, integer, text) integer
            regexp_replace_from(text, text, text, integer, integer, text) text
            regexp_extract(text, text, integer?) text

            date_trunc(text, timestamp) timestamp
            date_trunc(text, timestamptz) timestamptz
            date_trunc(text, date) timestamp
            date_trunc(text, interval) interval
            date_part(text, timestamp) double
            date_part(text, timestamptz) double
            date_part(text, date) double
            date_part(text, time) double
            date_part(text, interval) double
            extract(text, timestamp) extract
            extract(text, timestamptz) extract
            extract(text, date) extract
            extract(text, time) extract
            extract(text, interval) extract
            isfinite(timestamp) boolean
            isfinite(timestamptz) boolean
            isfinite(date) boolean
            isfinite(interval) boolean
            date_bin(interval, timestamp, timestamp) timestamp
            date_bin(interval, timestamptz, timestamptz) timestamptz
            time_bucket(interval, timestamp) timestamp
            time_bucket(interval, timestamptz) timestamptz
            time_bucket(interval, date) date
            time_bucket(interval, timestamp, timestamp) timestamp
            time_bucket(interval, timestamptz, timestamptz) timestamptz
            time_bucket(interval, date, date) date
            time_bucket(interval, timestamp, interval) timestamp
            time_bucket(interval, timestamptz, interval) timestamptz
            time_bucket(interval, date, interval) date
            to_timestamp(double) timestamptz
            to_timestamp(text, text) timestamptz
            to_date(text, text) date
            to_char(timestamp, text) text
            to_char(timestamptz, text) text
            to_char(interval, text) text
            to_char(bigint, text) text
            to_char(numeric, text) text
            to_char(bignum, text) text
            to_char(double, text) text
            to_number(text, text) numeric
            whole_months(timestamp, timestamp) bigint
            epoch_ms(timestamp) bigint
            epoch_ms(timestamptz) bigint
            epoch_ms(interval) bigint
            epoch_ms(bigint) timestamp
            strftime(timestamp, text) text
            strftime(timestamptz, text) text
            strptime(text, text) timestamp
            strptime_fits(text, text) boolean
            make_date(integer, integer, integer) date
            interval_of(integer, integer, integer, integer, integer, integer, double) interval
            round_time(timestamp, integer) timestamp
            round_time(timestamptz, integer) timestamptz
            round_time(time, integer) time
            round_time(interval, integer) interval
            make_time(integer, integer, double) time
            make_timestamp(integer, integer, integer, integer, integer, double) timestamp
            age(timestamp, timestamp) interval
            age(timestamptz, timestamptz) interval
            justify_hours(interval) interval
            justify_days(interval) interval
            justify_interval(interval) interval
            timezone(text, timestamp) timestamptz
            timezone(text, timestamptz) timestamp
            float8send(double) bytea
            float4send(real) bytea
            rounded_text(double, integer) text
            rounded_text(real, integer) text
            styled_text(date, text) text
            styled_text(timestamp, text) text
            styled_text(interval, text) text
            styled_date(text, text) date
            styled_timestamp(text, text) timestamp
            zoned_text(timestamptz, text) text
            zone_seconds(timestamptz, text) integer
            zoned_timestamptz(text, text) timestamptz
            zoned_to_char(timestamptz, text, text) text
            zoned_to_timestamp(text, text, text) timestamptz
            zoned_add(timestamptz, interval, text) timestamptz
            zoned_subtract(timestamptz, interval, text) timestamptz
            proctime() timestamptz
            now() timestamptz

            error_bound(double) double
            lower_bound(double) double
            upper_bound(double) double
            bound_low(double, double) double
            bound_high(double, double) double
            bound_real_low(double, double) double
            bound_real_high(double, double) double
            bound_scaled(double, double, double) double
            bound_whole_low(double) double
            bound_whole_high(double) double
            bound_real(double) double
            bound_add_low(double, double) double
            bound_add_high(double, double) double
            bound_multiply_low(double, double, double, double) double
            bound_multiply_high(double, double, double, double) double
            bound_divide_low(double, double, double, double) double
            bound_divide_high(double, double, double, double) double
            bound_negate_low(double) double
            bound_negate_high(double, double) double
            bound_abs_low(double, double) double
            bound_abs_high(double, double) double
            bound_root(double) double
            bound_total_low(double, double) double
            bound_total_high(double, double) double
            bound_distance(double, double, double) double
            bound_top(double, double) double
            bound_within(double, double, text) boolean

            at_most_one_row(bigint) boolean
            sleep_seconds(double, bigint) text
            null_name(boolean) text
            """;

    /** Other names of functions, as users know them. */
    public static final Map<String, String> ALIASES = Map.ofEntries(
            Map.entry("json_typeof", "jsonb_typeof"),
            Map.entry("json_array_length", "jsonb_array_length"),
            Map.entry("json_build_object", "jsonb_build_object"),
            Map.entry("json_build_array", "jsonb_build_array"),
            Map.entry("json_object", "jsonb_object"),
            Map.entry("json_strip_nulls", "jsonb_strip_nulls"),
            Map.entry("json_extract_path", "jsonb_extract_path"),
            Map.entry("json_extract_path_text", "jsonb_extract_path_text"),
            Map.entry("to_json", "to_jsonb"),
            Map.entry("array_to_json", "to_jsonb"),
            Map.entry("row_to_json", "to_jsonb"),
            Map.entry("char_length", "length"),
            Map.entry("character_length", "length"),
            Map.entry("substr", "substring"),
            Map.entry("trim", "btrim"),
            Map.entry("ceiling", "ceil"),
            Map.entry("pow", "power"),
            Map.entry("dpow", "power"),
            Map.entry("datepart", "date_part"));

    private static final Map<String, List<Signature>> BY_NAME = parse();

    private FunctionCatalog() {}

    /** The overloads of a canonical name, in the order of preference; none for an unknown name. */
    public static List<Signature> overloads(String name) {
        return BY_NAME.getOrDefault(name, List.of());
    }

    /** All canonical names. */
    public static Iterable<String> names() {
        return BY_NAME.keySet();
    }

    private static Map<String, List<Signature>> parse() {
        Map<String, List<Signature>> byName = new LinkedHashMap<>();
        String all = SIGNATURES + NestedSignatures.TEXT;
        all.lines().filter(line -> !line.isBlank()).forEach(line -> {
            Signature signature = parse(line);
            byName.computeIfAbsent(signature.name(), name -> new ArrayList<>()).add(signature);
        });
        return byName;
    }

    private static Signature parse(String line) {
        int open = line.indexOf('(');
        int close = line.lastIndexOf(')');
        boolean seesNull = line.startsWith("!");
        List<Parameter> parameters = new ArrayList<>();
        boolean variadic = false;
        if (close > open + 1) {
            for (String part : line.substring(open + 1, close).split(",")) {
                String text = part.trim();
                variadic = text.endsWith("...");
                boolean optional = text.contains("?");
                String type = text.replace("...", "").replace("?", "");
                parameters.add(Signature.parameter(type, optional));
            }
        }
        return new Signature(
                line.substring(seesNull ? 1 : 0, open),
                parameters,
                variadic,
                ResultRule.parse(line.substring(close + 1).trim()),
                !seesNull);
    }
}
