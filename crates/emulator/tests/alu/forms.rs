//! Every form that `select` knows, as patterns: `{.a,.b,}` is a choice, the last one here nothing.
//!
//! Operands are letters: `p` a predicate, `b` 8 bits, `h` 16 bits, `r` 32, `d` 64, `q` 128, `i` an
//! immediate; results before the `=`, sources after it, and `c` the condition code on either side.

/// A pattern and its operands.
pub type Pattern = (&'static str, &'static str);

/// One form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// The opcode and its modifiers.
    pub name: String,
    /// Results, as letters.
    pub results: String,
    /// Sources, as letters.
    pub sources: String,
}

impl Form {
    /// The opcode.
    pub fn opcode(&self) -> &str {
        self.name.split('.').next().unwrap()
    }

    /// The modifiers.
    pub fn modifiers(&self) -> Vec<&str> {
        self.name.split('.').skip(1).collect()
    }
}

/// All forms.
pub fn all() -> Vec<Form> {
    let groups = [INTEGER, BITS, FLOAT, HALF, COMPARE, LOGIC, CONVERT, VIDEO];
    let mut forms = Vec::new();
    for (pattern, operands) in groups.concat() {
        for name in expand(pattern) {
            for operands in expand(operands) {
                let (results, sources) = operands.split_once('=').unwrap();
                let (results, sources) = (results.to_owned(), sources.to_owned());
                forms.push(Form { name: name.clone(), results, sources });
            }
        }
    }
    forms
}

fn expand(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('{') else { return vec![pattern.to_owned()] };
    let (choices, after) = rest.split_once('}').unwrap();
    let tails = expand(after);
    let mut all = Vec::new();
    for choice in choices.split(',') {
        all.extend(tails.iter().map(|tail| format!("{before}{choice}{tail}")));
    }
    all
}

const INTEGER: &[Pattern] = &[
    ("{add,sub}.{u16,s16}", "h=hh"),
    ("{add,sub}.{u32,s32}", "r=rr"),
    ("add.{u16x2,s16x2}", "r=rr"),
    ("{add,sub}.sat.s32", "r=rr"),
    ("{add,sub}.{u64,s64}", "d=dd"),
    ("{add,sub}.cc.{u32,s32}", "rc=rr"),
    ("{add,sub}.cc.{u64,s64}", "dc=dd"),
    ("{addc,subc}.{u32,s32}", "r=rrc"),
    ("{addc,subc}.{u64,s64}", "d=ddc"),
    ("{addc,subc}.cc.{u32,s32}", "rc=rrc"),
    ("{addc,subc}.cc.{u64,s64}", "dc=ddc"),
    ("mul.{lo,hi}.{u16,s16}", "h=hh"),
    ("mul.{lo,hi}.{u32,s32}", "r=rr"),
    ("mul.{lo,hi}.{u64,s64}", "d=dd"),
    ("mul.wide.{u16,s16}", "r=hh"),
    ("mul.wide.{u32,s32}", "d=rr"),
    ("mad.{lo,hi}.{u16,s16}", "h=hhh"),
    ("mad.{lo,hi}.{u32,s32}", "r=rrr"),
    ("mad.{lo,hi}.{u64,s64}", "d=ddd"),
    ("mad.wide.{u16,s16}", "r=hhr"),
    ("mad.wide.{u32,s32}", "d=rrd"),
    ("mad.hi.sat.s32", "r=rrr"),
    ("mad.{lo,hi}.cc.{u32,s32}", "rc=rrr"),
    ("mad.{lo,hi}.cc.{u64,s64}", "dc=ddd"),
    ("madc.{lo,hi}.{u32,s32}", "r=rrrc"),
    ("madc.{lo,hi}.{u64,s64}", "d=dddc"),
    ("madc.{lo,hi}.cc.{u32,s32}", "rc=rrrc"),
    ("madc.{lo,hi}.cc.{u64,s64}", "dc=dddc"),
    ("mul24.{lo,hi}.{u32,s32}", "r=rr"),
    ("mad24.{lo,hi}.{u32,s32}", "r=rrr"),
    ("mad24.hi.sat.s32", "r=rrr"),
    ("sad.{u16,s16}", "h=hhh"),
    ("sad.{u32,s32}", "r=rrr"),
    ("sad.{u64,s64}", "d=ddd"),
    ("{div,rem,min,max}.{u16,s16}", "h=hh"),
    ("{div,rem,min,max}.{u32,s32}", "r=rr"),
    ("{div,rem,min,max}.{u64,s64}", "d=dd"),
    ("{min,max}.{u16x2,s16x2}", "r=rr"),
    ("{min,max}.relu.{s32,s16x2}", "r=rr"),
    ("{abs,neg}.s16", "h=h"),
    ("{abs,neg}.s32", "r=r"),
    ("{abs,neg}.s64", "d=d"),
    ("dp4a.{u32,s32}.{u32,s32}", "r=rrr"),
    ("dp2a.{lo,hi}.{u32,s32}.{u32,s32}", "r=rrr"),
];

const BITS: &[Pattern] = &[
    ("{popc,clz,brev}.b32", "r=r"),
    ("{popc,clz}.b64", "r=d"),
    ("brev.b64", "d=d"),
    ("bfind{.shiftamt,}.{u32,s32}", "r=r"),
    ("bfind{.shiftamt,}.{u64,s64}", "r=d"),
    ("fns.b32", "r=rrr"),
    ("bfe.{u32,s32}", "r=rrr"),
    ("bfe.{u64,s64}", "d=drr"),
    ("bfi.b32", "r=rrrr"),
    ("bfi.b64", "d=ddrr"),
    ("szext.{clamp,wrap}.{u32,s32}", "r=rr"),
    ("bmsk.{clamp,wrap}.b32", "r=rr"),
];

const FLOAT: &[Pattern] = &[
    ("{add,sub,mul}{.rn,.rz,.rm,.rp,}{.ftz,}{.sat,}.f32", "r=rr"),
    ("{add,sub,mul}{.rn,.rz,.rm,.rp,}{.ftz,}.f32x2", "d=dd"),
    ("{add,sub,mul}{.rn,.rz,.rm,.rp,}.f64", "d=dd"),
    ("fma{.rn,.rz,.rm,.rp}{.ftz,}{.sat,}.f32", "r=rrr"),
    ("mad{.rn,.rz,.rm,.rp}{.ftz,}{.sat,}.f32", "r=rrr"),
    ("fma{.rn,.rz,.rm,.rp}{.ftz,}.f32x2", "d=ddd"),
    ("{fma,mad}{.rn,.rz,.rm,.rp}.f64", "d=ddd"),
    ("div{.rn,.rz,.rm,.rp,.approx,.full}{.ftz,}.f32", "r=rr"),
    ("div{.rn,.rz,.rm,.rp}.f64", "d=dd"),
    ("{rcp,sqrt}{.rn,.rz,.rm,.rp,.approx}{.ftz,}.f32", "r=r"),
    ("{rcp,sqrt}{.rn,.rz,.rm,.rp}.f64", "d=d"),
    ("{rsqrt,sin,cos,lg2,ex2}.approx{.ftz,}.f32", "r=r"),
    ("tanh.approx.f32", "r=r"),
    ("rsqrt.approx{.ftz,}.f64", "d=d"),
    ("rcp.approx.ftz.f64", "d=d"),
    ("{add,sub}{.rn,.rz,.rm,.rp,}{.sat,}.f32.{f16,bf16}", "r=hr"),
    ("fma{.rn,.rz,.rm,.rp}{.sat,}.f32.{f16,bf16}", "r=hhr"),
    ("{abs,neg}{.ftz,}.f32", "r=r"),
    ("{abs,neg}.f64", "d=d"),
    ("{min,max}{.ftz,}{.NaN,}{.xorsign.abs,}.f32", "r=rr"),
    ("{min,max}{.ftz,}{.NaN,}{.abs,}.f32", "r=rrr"),
    ("{min,max}.f64", "d=dd"),
    ("copysign.f32", "r=rr"),
    ("copysign.f64", "d=dd"),
    ("testp.{finite,infinite,number,notanumber,normal,subnormal}.f32", "p=r"),
    ("testp.{finite,infinite,number,notanumber,normal,subnormal}.f64", "p=d"),
];

const HALF: &[Pattern] = &[
    ("{add,sub,mul}{.rn,}{.ftz,}{.sat,}.f16", "h=hh"),
    ("{add,sub,mul}{.rn,}{.ftz,}{.sat,}.f16x2", "r=rr"),
    ("{add,sub,mul}{.rn,}.bf16", "h=hh"),
    ("{add,sub,mul}{.rn,}.bf16x2", "r=rr"),
    ("fma.rn{.ftz,}{.sat,.relu,}.f16", "h=hhh"),
    ("fma.rn{.ftz,}{.sat,.relu,}.f16x2", "r=rrr"),
    ("fma.rn{.relu,}.bf16", "h=hhh"),
    ("fma.rn{.relu,}.bf16x2", "r=rrr"),
    ("{abs,neg}{.ftz,}.f16", "h=h"),
    ("{abs,neg}{.ftz,}.f16x2", "r=r"),
    ("{abs,neg}.bf16", "h=h"),
    ("{abs,neg}.bf16x2", "r=r"),
    ("{min,max}{.ftz,}{.NaN,}{.xorsign.abs,}.f16", "h=hh"),
    ("{min,max}{.ftz,}{.NaN,}{.xorsign.abs,}.f16x2", "r=rr"),
    ("{min,max}{.NaN,}{.xorsign.abs,}.bf16", "h=hh"),
    ("{min,max}{.NaN,}{.xorsign.abs,}.bf16x2", "r=rr"),
    ("tanh.approx.{f16,bf16}", "h=h"),
    ("tanh.approx.{f16x2,bf16x2}", "r=r"),
    ("ex2.approx.f16", "h=h"),
    ("ex2.approx.f16x2", "r=r"),
    ("ex2.approx.ftz.bf16", "h=h"),
    ("ex2.approx.ftz.bf16x2", "r=r"),
];

const COMPARE: &[Pattern] = &[
    ("setp.{eq,ne}.b16", "p=hh"),
    ("setp.{eq,ne}.b32", "p=rr"),
    ("setp.{eq,ne}.b64", "p=dd"),
    ("setp.{eq,ne,lt,le,gt,ge}.s16", "p=hh"),
    ("setp.{eq,ne,lt,le,gt,ge}.s32", "p=rr"),
    ("setp.{eq,ne,lt,le,gt,ge}.s64", "p=dd"),
    ("setp.{eq,ne,lt,le,gt,ge,lo,ls,hi,hs}.u16", "p=hh"),
    ("setp.{eq,ne,lt,le,gt,ge,lo,ls,hi,hs}.u32", "p=rr"),
    ("setp.{eq,ne,lt,le,gt,ge,lo,ls,hi,hs}.u64", "p=dd"),
    ("setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{.ftz,}.f32", "p=rr"),
    ("setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.f64", "p=dd"),
    ("setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{.ftz,}.f16", "p=hh"),
    ("setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.bf16", "p=hh"),
    ("setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{.ftz,}.f16x2", "pp=rr"),
    ("setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.bf16x2", "pp=rr"),
    ("setp.{eq,ne}.{and,or,xor}.b16", "p=hhp"),
    ("setp.{eq,ne}.{and,or,xor}.b32", "p=rrp"),
    ("setp.{eq,ne}.{and,or,xor}.b64", "p=ddp"),
    ("setp.{eq,ne,lt,le,gt,ge}.{and,or,xor}.s16", "p=hhp"),
    ("setp.{eq,ne,lt,le,gt,ge}.{and,or,xor}.s32", "p=rrp"),
    ("setp.{eq,ne,lt,le,gt,ge}.{and,or,xor}.s64", "p=ddp"),
    ("setp.{eq,ne,lt,le,gt,ge,lo,ls,hi,hs}.{and,or,xor}.u16", "p=hhp"),
    ("setp.{eq,ne,lt,le,gt,ge,lo,ls,hi,hs}.{and,or,xor}.u32", "p=rrp"),
    ("setp.{eq,ne,lt,le,gt,ge,lo,ls,hi,hs}.{and,or,xor}.u64", "p=ddp"),
    ("setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.{and,or,xor}{.ftz,}.f32", "p=rrp"),
    ("setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.{and,or,xor}.f64", "p=ddp"),
    ("setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.{and,or,xor}{.ftz,}.f16", "p=hhp"),
    ("setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.{and,or,xor}.bf16", "p=hhp"),
    (
        "setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.{and,or,xor}{.ftz,}.f16x2",
        "pp=rrp",
    ),
    ("setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.{and,or,xor}.bf16x2", "pp=rrp"),
    ("setp.{lt,ne}.s32", "pp=rr"),
    ("setp.{lt,ne}.{and,or,xor}.s32", "pp=rrp"),
    ("setp.{lt,neu}.f64", "pp=dd"),
    ("setp.{lt,neu}.{and,or,xor}.ftz.f32", "pp=rrp"),
    ("set.{eq,ne}.{u32,s32,f32}.b16", "r=hh"),
    ("set.{eq,ne}.{u32,s32,f32}.b32", "r=rr"),
    ("set.{eq,ne}.{u32,s32,f32}.b64", "r=dd"),
    ("set.{eq,ne,lt,le,gt,ge}.{u32,s32,f32}.s16", "r=hh"),
    ("set.{eq,ne,lt,le,gt,ge}.{u32,s32,f32}.s32", "r=rr"),
    ("set.{eq,ne,lt,le,gt,ge}.{u32,s32,f32}.s64", "r=dd"),
    ("set.{eq,ne,lt,le,gt,ge,lo,ls,hi,hs}.{u32,s32,f32}.u16", "r=hh"),
    ("set.{eq,ne,lt,le,gt,ge,lo,ls,hi,hs}.{u32,s32,f32}.u32", "r=rr"),
    ("set.{eq,ne,lt,le,gt,ge,lo,ls,hi,hs}.{u32,s32,f32}.u64", "r=dd"),
    ("set.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{.ftz,}.{u32,s32,f32}.f32", "r=rr"),
    ("set.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.{u32,s32,f32}.f64", "r=dd"),
    ("set.{lt,ne}.{and,or,xor}.{u32,f32}.{s32,u32}", "r=rrp"),
    ("set.{lt,nan}.{and,or,xor}.ftz.{s32,f32}.f32", "r=rrp"),
    ("set.{lt,nan}.{and,or,xor}.f32.f64", "r=ddp"),
    ("set.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{.ftz,}.{f16,u16,s16}.f16", "h=hh"),
    ("set.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{.ftz,}.{u32,s32}.f16", "r=hh"),
    ("set.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.{bf16,u16,s16}.bf16", "h=hh"),
    ("set.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.{u32,s32}.bf16", "r=hh"),
    (
        "set.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{.ftz,}.{f16x2,u32,s32}.f16x2",
        "r=rr",
    ),
    ("set.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.{bf16x2,u32,s32}.bf16x2", "r=rr"),
    ("set.{lt,neu}.{and,or,xor}.f16x2.f16x2", "r=rrp"),
    ("set.{lt,neu}.{and,or,xor}.bf16.bf16", "h=hhp"),
    ("selp.{b16,u16,s16}", "h=hhp"),
    ("selp.{b32,u32,s32,f32}", "r=rrp"),
    ("selp.{b64,u64,s64,f64}", "d=ddp"),
    ("slct.{b16,u16,s16}.s32", "h=hhr"),
    ("slct.{b32,u32,s32,f32}.s32", "r=rrr"),
    ("slct.{b64,u64,s64,f64}.s32", "d=ddr"),
    ("slct{.ftz,}.{b16,u16,s16}.f32", "h=hhr"),
    ("slct{.ftz,}.{b32,u32,s32,f32}.f32", "r=rrr"),
    ("slct{.ftz,}.{b64,u64,s64,f64}.f32", "d=ddr"),
];

const LOGIC: &[Pattern] = &[
    ("{and,or,xor}.pred", "p=pp"),
    ("{and,or,xor}.b16", "h=hh"),
    ("{and,or,xor}.b32", "r=rr"),
    ("{and,or,xor}.b64", "d=dd"),
    ("not.pred", "p=p"),
    ("{not,cnot}.b16", "h=h"),
    ("{not,cnot}.b32", "r=r"),
    ("{not,cnot}.b64", "d=d"),
    ("shl.b16", "h=hr"),
    ("shl.b32", "r=rr"),
    ("shl.b64", "d=dr"),
    ("shr.{b16,u16,s16}", "h=hr"),
    ("shr.{b32,u32,s32}", "r=rr"),
    ("shr.{b64,u64,s64}", "d=dr"),
    ("shf.{l,r}.{clamp,wrap}.b32", "r=rrr"),
    ("lop3.b32", "r=rrri"),
    ("lop3.{and,or}.b32", "rp=rrrip"),
    ("prmt.b32{.f4e,.b4e,.rc8,.ecl,.ecr,.rc16,}", "r=rrr"),
    ("mov.pred", "p=p"),
    ("mov.{b16,u16,s16}", "h=h"),
    ("mov.{b32,u32,s32,f32}", "r=r"),
    ("mov.{b64,u64,s64,f64}", "d=d"),
    ("mov.b128", "q=q"),
];

const CONVERT: &[Pattern] = &[
    // Integers to integers, with registers of the types' widths and wider ones.
    ("cvt.{u8,s8,u16,s16}.{u8,s8,u16,s16}", "h=h"),
    ("cvt.{u8,s8,u16,s16,u32,s32}.{u8,s8,u16,s16}", "r=h"),
    ("cvt.{u8,s8,u16,s16,u32,s32,u64,s64}.{u8,s8,u16,s16}", "d=h"),
    ("cvt.{u8,s8,u16,s16}.{u8,s8,u16,s16,u32,s32}", "h=r"),
    ("cvt.{u8,s8,u16,s16,u32,s32}.{u8,s8,u16,s16,u32,s32}", "r=r"),
    ("cvt.{u8,s8,u16,s16,u32,s32,u64,s64}.{u8,s8,u16,s16,u32,s32}", "d=r"),
    ("cvt.{u8,s8,u16,s16}.{u8,s8,u16,s16,u32,s32,u64,s64}", "h=d"),
    ("cvt.{u8,s8,u16,s16,u32,s32}.{u8,s8,u16,s16,u32,s32,u64,s64}", "r=d"),
    ("cvt.{u8,s8,u16,s16,u32,s32,u64,s64}.{u8,s8,u16,s16,u32,s32,u64,s64}", "d=d"),
    // Where saturation can do something.
    ("cvt.sat.{u8,u16}.{s8,s16}", "{h,r,d}={h,r,d}"),
    ("cvt.sat.{u8,u16}.s32", "{h,r,d}={r,d}"),
    ("cvt.sat.{u8,u16}.s64", "{h,r,d}=d"),
    ("cvt.sat.u32.{s8,s16}", "{r,d}={h,r,d}"),
    ("cvt.sat.u32.s32", "{r,d}={r,d}"),
    ("cvt.sat.u32.s64", "{r,d}=d"),
    ("cvt.sat.u64.{s8,s16}", "d={h,r,d}"),
    ("cvt.sat.u64.s32", "d={r,d}"),
    ("cvt.sat.u64.s64", "d=d"),
    ("cvt.sat.s8.{u8,u16,s16}", "{h,r,d}={h,r,d}"),
    ("cvt.sat.{s8,s16}.u16", "{h,r,d}={h,r,d}"),
    ("cvt.sat.{s8,s16}.{s32,u32}", "{h,r,d}={r,d}"),
    ("cvt.sat.s32.u32", "{r,d}={r,d}"),
    ("cvt.sat.{s8,s16}.{s64,u64}", "{h,r,d}=d"),
    ("cvt.sat.s32.{s64,u64}", "{r,d}=d"),
    ("cvt.sat.s64.u64", "d=d"),
    ("cvt.sat.u8.u16", "{h,r,d}={h,r,d}"),
    ("cvt.sat.{u8,u16}.u32", "{h,r,d}={r,d}"),
    ("cvt.sat.{u8,u16}.u64", "{h,r,d}=d"),
    ("cvt.sat.u32.u64", "{r,d}=d"),
    // Floats to integers.
    ("cvt{.rni,.rzi,.rmi,.rpi}{.sat,}.{u8,s8,u16,s16}.f16", "{h,r,d}=h"),
    ("cvt{.rni,.rzi,.rmi,.rpi}{.sat,}.{u32,s32}.f16", "{r,d}=h"),
    ("cvt{.rni,.rzi,.rmi,.rpi}{.sat,}.{u64,s64}.f16", "d=h"),
    ("cvt{.rni,.rzi,.rmi,.rpi}.{u8,s8}.bf16", "b=h"),
    ("cvt{.rni,.rzi,.rmi,.rpi}.{u16,s16}.bf16", "h=h"),
    ("cvt{.rni,.rzi,.rmi,.rpi}.{u32,s32}.bf16", "r=h"),
    ("cvt{.rni,.rzi,.rmi,.rpi}.{u64,s64}.bf16", "d=h"),
    ("cvt{.rni,.rzi,.rmi,.rpi}{.ftz,}{.sat,}.{u8,s8,u16,s16}.f32", "{h,r,d}=r"),
    ("cvt{.rni,.rzi,.rmi,.rpi}{.ftz,}{.sat,}.{u32,s32}.f32", "{r,d}=r"),
    ("cvt{.rni,.rzi,.rmi,.rpi}{.ftz,}{.sat,}.{u64,s64}.f32", "d=r"),
    ("cvt{.rni,.rzi,.rmi,.rpi}{.sat,}.{u8,s8,u16,s16}.f64", "{h,r,d}=d"),
    ("cvt{.rni,.rzi,.rmi,.rpi}{.sat,}.{u32,s32}.f64", "{r,d}=d"),
    ("cvt{.rni,.rzi,.rmi,.rpi}{.sat,}.{u64,s64}.f64", "d=d"),
    // Integers to floats.
    ("cvt{.rn,.rz,.rm,.rp}{.sat,}.f16.{u8,s8,u16,s16}", "h={h,r,d}"),
    ("cvt{.rn,.rz,.rm,.rp}{.sat,}.f16.{u32,s32}", "h={r,d}"),
    ("cvt{.rn,.rz,.rm,.rp}{.sat,}.f16.{u64,s64}", "h=d"),
    ("cvt{.rn,.rz,.rm,.rp}.bf16.{u8,s8}", "h=b"),
    ("cvt{.rn,.rz,.rm,.rp}.bf16.{u16,s16}", "h=h"),
    ("cvt{.rn,.rz,.rm,.rp}.bf16.{u32,s32}", "h=r"),
    ("cvt{.rn,.rz,.rm,.rp}.bf16.{u64,s64}", "h=d"),
    ("cvt{.rn,.rz,.rm,.rp}{.ftz,}{.sat,}.f32.{u8,s8,u16,s16}", "r={h,r,d}"),
    ("cvt{.rn,.rz,.rm,.rp}{.ftz,}{.sat,}.f32.{u32,s32}", "r={r,d}"),
    ("cvt{.rn,.rz,.rm,.rp}{.ftz,}{.sat,}.f32.{u64,s64}", "r=d"),
    ("cvt{.rn,.rz,.rm,.rp}{.sat,}.f64.{u8,s8,u16,s16}", "d={h,r,d}"),
    ("cvt{.rn,.rz,.rm,.rp}{.sat,}.f64.{u32,s32}", "d={r,d}"),
    ("cvt{.rn,.rz,.rm,.rp}{.sat,}.f64.{u64,s64}", "d=d"),
    // Floats to floats.
    ("cvt{.rni,.rzi,.rmi,.rpi,}{.ftz,}{.sat,}.f32.f32", "r=r"),
    ("cvt{.rni,.rzi,.rmi,.rpi,}{.sat,}.f64.f64", "d=d"),
    ("cvt{.rni,.rzi,.rmi,.rpi,}{.sat,}.f16.f16", "h=h"),
    ("cvt{.rni,.rzi,.rmi,.rpi,}.bf16.bf16", "h=h"),
    ("cvt{.rn,.rz,.rm,.rp}{.ftz,}{.sat,}.f32.f64", "r=d"),
    ("cvt{.ftz,}{.sat,}.f64.f32", "d=r"),
    ("cvt{.rn,.rz,.rm,.rp}{.ftz,}{.sat,}.f16.f32", "h=r"),
    ("cvt{.rn,.rz,.rm,.rp}{.ftz,}.bf16.f32", "h=r"),
    ("cvt{.rn,.rz}{.relu,.satfinite,.relu.satfinite}.{f16,bf16}.f32", "h=r"),
    ("cvt{.rn,.rz,.rm,.rp}{.sat,}.f16.f64", "h=d"),
    ("cvt{.rn,.rz,.rm,.rp}.bf16.f64", "h=d"),
    ("cvt{.rn,.rz,.rm,.rp}.{f16.bf16,bf16.f16}", "h=h"),
    ("cvt{.ftz,}{.sat,}.f32.f16", "r=h"),
    ("cvt{.ftz,}.f32.bf16", "r=h"),
    ("cvt{.sat,}.f64.f16", "d=h"),
    ("cvt.f64.bf16", "d=h"),
    // Packed and narrow ones.
    ("cvt{.rn,.rz}{.relu,}{.satfinite,}.{f16x2,bf16x2}.f32", "r=rr"),
    ("cvt{.rn,.rz}{.relu,}{.satfinite,}.tf32.f32", "r=r"),
    ("cvt.rna{.satfinite,}.tf32.f32", "r=r"),
    ("cvt.rn.satfinite{.relu,}.{e4m3x2,e5m2x2,e2m3x2,e3m2x2}.f32", "h=rr"),
    ("cvt.rn.satfinite{.relu,}.{e4m3x2,e5m2x2}.f16x2", "h=r"),
    ("cvt.rn{.relu,}.f16x2.{e4m3x2,e5m2x2,e2m3x2,e3m2x2}", "r=h"),
    ("cvt.rn.satfinite{.relu,}.e2m1x2.f32", "b=rr"),
    ("cvt.rn{.relu,}.f16x2.e2m1x2", "r=b"),
    ("cvt.pack.sat.{u16,s16}.s32", "r=rr"),
    ("cvt.pack.sat.{u8,s8,u4,s4,u2,s2}.s32.b32", "r=rrr"),
];

const VIDEO: &[Pattern] = &[
    (
        "{vadd,vsub,vavrg,vabsdiff,vmin,vmax}{2,4}.{u32,s32}.{u32,s32}.{u32,s32}{.sat,.add,}",
        "r=rrr",
    ),
    ("vset{2,4}.{u32,s32}.{u32,s32}.{eq,ne,lt,le,gt,ge}{.add,}", "r=rrr"),
];
